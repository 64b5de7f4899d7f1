"""The corpus: secrets of every family, made at run time so that no scanner finds one here, and what only looks like one.

Shapes of vendors' tokens are written down here from what vendors issue, apart from the tables the redactor uses.
"""

from __future__ import annotations

import base64
import json
import random
from dataclasses import dataclass

import pytest

from clew.redact import FAMILIES, find, redact

LOWER, UPPER, DIGIT = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
CLASSES = {
    "a": LOWER + UPPER + DIGIT,
    "w": LOWER + UPPER + DIGIT + "_-",
    "h": "0123456789abcdef",
    "l": LOWER + DIGIT,
    "u": UPPER + DIGIT,
    "b": LOWER + UPPER + DIGIT + "+/",
    "n": DIGIT,
    "c": UPPER + "234567",
    "z": LOWER + UPPER,
}
PER_SHAPE = 12


@dataclass(frozen=True, slots=True)
class Vector:
    """A text, and the part of it that must not be left in it."""

    family: str
    text: str
    secret: str


# "prefix{class+length}..." — the prefix is broken up by the braces, so no token stands here.
SHAPES: dict[str, tuple[str, ...]] = {
    "anthropic": ("sk-ant-{}api03-{w93}AA", "sk-ant-{}admin01-{w93}AA", "sk-ant-{}oat01-{w93}AA"),
    "openrouter": ("sk-or-v1-{h64}",),
    "openai": ("sk-{}proj-{w74}T3BlbkFJ{w74}", "sk-{a20}T3BlbkFJ{a20}", "sk-{}svcacct-{w58}T3BlbkFJ{w58}", "sk-{h32}"),
    "xai": ("xai-{a80}",),
    "groq": ("gsk_{a52}",),
    "perplexity": ("pplx-{a48}",),
    "huggingface": ("hf_{z34}", "api_org_{z34}"),
    "replicate": ("r8_{a37}",),
    "nvidia": ("nvapi-{w64}",),
    "fireworks": ("fw_{a24}",),
    "tavily": ("tvly-{a32}", "tvly-{}dev-{a32}"),
    "firecrawl": ("fc-{h32}",),
    "pinecone": ("pcsk_{a6}_{a63}",),
    "elevenlabs": ("sk_{h48}",),
    "langsmith": ("lsv2_pt_{h32}_{h10}", "lsv2_sk_{h32}_{h10}"),
    "aws": ("AKIA{c16}", "ASIA{c16}", "ABSK{b120}="),
    "google": ("AIza{w35}", "GOCSPX-{w28}", "ya29.{w120}", "1//0{w60}"),
    "azure": ("{a3}8Q~{w34}", "{a52}JQQJ99{a26}"),
    "alibaba": ("LTAI{a20}",),
    "digitalocean": ("dop_v1_{h64}", "doo_v1_{h64}", "dor_v1_{h64}"),
    "heroku": ("HRKU-AA{w58}",),
    "flyio": ("fo1_{w43}", "fm2_{b120}"),
    "netlify": ("nfp_{a36}",),
    "cloudflare": ("v1.0-{h24}-{h146}",),
    "supabase": ("sbp_{h40}", "sb_secret_{w31}"),
    "planetscale": ("pscale_tkn_{w43}", "pscale_pw_{w43}", "pscale_oauth_{w43}"),
    "aiven": ("AVNS_{w19}",),
    "databricks": ("dapi{h32}",),
    "doppler": ("dp.pt.{a43}", "dp.st.{l8}.{a43}"),
    "vault": ("hvs.{w95}", "hvb.{w150}"),
    "terraform": ("{a14}.atlasv1.{w67}",),
    "pulumi": ("pul-{h40}",),
    "infracost": ("ico-{a32}",),
    "scalingo": ("tk-us-{w48}",),
    "prefect": ("pnu_{a36}",),
    "harness": ("pat.{w22}.{a24}.{a20}",),
    "octopus": ("API-{u26}",),
    "sonar": ("squ_{h40}", "sqp_{h40}"),
    "tailscale": ("tskey-{}auth-{a17}CNTRL-{a32}",),
    "onepassword": ("ops_eyJ{b260}", "A3-{u6}-{u11}-{u5}-{u5}-{u5}"),
    "age": ("AGE-SECRET-KEY-1{u58}",),
    "openshift": ("sha256~{w43}",),
    "docker": ("dckr_pat_{w27}",),
    "github": ("ghp_{a36}", "gho_{a36}", "ghu_{a36}", "ghs_{a36}", "ghr_{a36}", "github_pat_{a22}_{a59}"),
    "gitlab": (
        "glpat-{w20}",
        "glptt-{h40}",
        "gldt-{w20}",
        "glrt-{w20}",
        "glcbt-{a5}_{w20}",
        "gloas-{w64}",
        "GR1348941{w20}",
        "glpat-{w27}.01.{l9}",
    ),
    "bitbucket": ("ATBB{a32}",),
    "atlassian": ("ATATT3{w186}",),
    "sourcegraph": ("sgp_{h16}_{h40}", "sgp_{h40}"),
    "npm": ("npm_{a36}",),
    "pypi": ("pypi-{}AgEIcHlwaS5vcmc{w80}",),
    "rubygems": ("rubygems_{h48}",),
    "crates": ("cio{a32}",),
    "clojars": ("CLOJARS_{l60}",),
    "nuget": ("oy2{l43}",),
    "jfrog": ("AKCp{a69}", "cmVmd{a59}"),
    "postman": ("PMAK-{h24}-{h34}",),
    "readme": ("rdme_{l70}",),
    "sentry": ("sntryu_{h64}", "sntrys_eyJpYXQiO{a80}LCJyZWdpb25fdXJs{a40}_{b43}"),
    "newrelic": ("NRAK-{u27}", "NRJS-{h19}", "NRII-{w32}"),
    "grafana": ("glsa_{a32}_{h8}", "glc_{b60}", "eyJrIjoi{a90}"),
    "dynatrace": ("dt0c01.{u24}.{u64}",),
    "posthog": ("phx_{a43}",),
    "stripe": ("sk_live_{a24}", "sk_test_{a99}", "rk_live_{a24}", "whsec_{b32}"),
    "square": ("sq0atp-{w22}", "sq0csp-{w43}", "EAAA{w60}"),
    "paypal": ("A21AA{w92}",),
    "razorpay": ("rzp_live_{a14}",),
    "flutterwave": ("FLWSECK_TEST-{h32}-X", "FLWSECK-{h32}-X"),
    "plaid": ("access-production-{h8}-{h4}-{h4}-{h4}-{h12}", "access-sandbox-{h8}-{h4}-{h4}-{h4}-{h12}"),
    "shippo": ("shippo_live_{h40}",),
    "easypost": ("EZAK{a54}", "EZTK{a54}"),
    "duffel": ("duffel_live_{w43}",),
    "sendgrid": ("SG.{w22}.{w43}",),
    "sendinblue": ("xkeysib-{h64}-{a16}",),
    "mailgun": ("key-{h32}",),
    "mailchimp": ("{h32}-us12",),
    "resend": ("re_{a8}_{a24}",),
    "twilio": ("SK{h32}",),
    "slack": (
        "xoxb-{n12}-{n12}-{a24}",
        "xoxp-{n12}-{n12}-{n12}-{h32}",
        "xapp-1-{u11}-{n13}-{h64}",
        "xoxe-1-{u146}",
        "xoxa-2-{a24}",
    ),
    "facebook": ("EAAC{a120}",),
    "notion": ("ntn_{n11}{a35}", "secret_{a43}"),
    "linear": ("lin_api_{a40}",),
    "airtable": ("pat{a14}.{h64}",),
    "figma": ("figd_{w40}",),
    "typeform": ("tfp_{w59}",),
    "contentful": ("CFPAT-{w43}",),
    "hubspot": ("pat-na1-{h8}-{h4}-{h4}-{h4}-{h12}",),
    "shopify": ("shpat_{h32}", "shpca_{h32}", "shppa_{h32}", "shpss_{h32}"),
    "frameio": ("fio-u-{w64}",),
    "dropbox": ("sl.{w135}",),
    "adobe": ("p8e-{a32}",),
    "adafruit": ("aio_{a28}",),
    "authress": ("authress_{l12}.{l5}.acc-{l20}.{b43}",),
    "definednet": ("dnkey-{l26}-{l52}",),
    "settlemint": ("sm_pat_{a16}", "sm_aat_{a16}"),
    "clickhouse": ("4b1d{a38}",),
    "maxmind": ("{a6}_{a29}_mmk",),
    "yandex": ("AQVN{w36}", "y0_{w55}"),
    "telegram": ("{n10}:AA{w33}", "bot{n9}:AA{w33}"),
    "discord-bot": ("MT{a24}.{a6}.{w38}", "NzE{a21}.{a6}.{w27}"),
    "langfuse": ("sk-lf-{h8}-{h4}-{h4}-{h4}-{h12}",),
    "buildkite": ("bkua_{h40}",),
    "circleci": ("CCIPAT_{a22}_{h40}",),
    "snyk": ("snyk_uat.{h8}.{w60}",),
    "vercel": ("vcp_{a56}",),
    "neon": ("napi_{l64}",),
    "trello": ("ATTA{h64}",),
    "cerebras": ("csk-{l48}",),
    "together": ("tgp_v1_{w43}",),
    "jina": ("jina_{w60}",),
    "voyage": ("pa-{w43}",),
    "e2b": ("e2b_{h40}",),
    "browserbase": ("bb_live_{w27}",),
    "runpod": ("rpa_{a44}",),
    "cursor": ("crsr_{h64}", "key_{h64}"),
    "anyscale": ("esecret_{a28}",),
    "mem0": ("m0-{a40}",),
    "wandb": ("wandb_v1_{w60}",),
    "friendli": ("flp_{a40}",),
    "modal": ("ak-{a22}", "as-{a22}"),
    "aws-mws": ("amzn.mws.{h8}-{h4}-{h4}-{h4}-{h12}",),
    "tencent": ("AKID{a32}",),
    "render": ("rnd_{a28}",),
    "mongodb-atlas": ("mdb_sa_sk_{w40}",),
    "cockroach": ("CCDB1_{a22}_{a40}",),
    "dbt": ("dbtc_{w36}", "dbtu_{w36}"),
    "launchdarkly": ("api-{h8}-{h4}-{h4}-{h4}-{h12}", "sdk-{h8}-{h4}-{h4}-{h4}-{h12}"),
    "packagist": ("packagist_ort_{h64}", "packagist_uut_{h64}"),
    "openvsx": ("ovsxat_{h8}-{h4}-{h4}-{h4}-{h12}",),
    "honeycomb": ("hcaik_{l58}", "hcxik_{l58}"),
    "axiom": ("xaat-{h8}-{h4}-{h4}-{h4}-{h12}", "xapt-{h8}-{h4}-{h4}-{h4}-{h12}"),
    "logfire": ("pylf_v1_us_{a43}",),
    "braintree": ("access_token$production${l16}${h32}",),
    "paddle": ("pdl_live_apikey_{l26}_{a22}_{a3}", "pdl_sdbx_apikey_{l26}_{a22}_{a3}"),
    "polar": ("polar_oat_{a43}", "polar_pat_{a43}"),
    "telnyx": ("KEY0{u31}_{a22}",),
    "instagram": ("IGQ{a150}",),
    "twitter": ("AAAAAAAAAAAAAAAAAAAAA{a90}",),
    "vk": ("vk1.a.{w80}",),
    "clickup": ("pk_{n8}_{u32}",),
    "mapbox": ("sk.eyJ{a70}.{w22}",),
    "intra42": ("s-s4t2ud-{h64}", "s-s4t2af-{h64}"),
    "kong": ("kpat_{a50}",),
    "ory": ("ory_at_{w43}", "ory_rt_{w43}"),
    "vantage": ("vntg_tkn_{h40}",),
    "thunderstore": ("tss_{a32}",),
    "rootly": ("rootly_{h64}",),
    "zuplo": ("zpka_{h32}_{h8}",),
    "samsara": ("samsara_api_{a30}",),
    "persona": ("persona_production_{h8}-{h4}-{h4}-{h4}-{h12}",),
    "nightfall": ("NF-{a32}",),
    "asana": ("1/{n16}:{h32}", "2/{n16}/{n16}:{h32}"),
    "matrix": ("syt_{a12}_{a20}_{a6}",),
}

CONTEXTS = (
    "{}",
    "token used: {}",
    "export THING={}\n",
    'client = Client("{}")',
    "- value: {}\n- other: 1",
    '{{"data": "{}", "n": 1}}',
    '{{"out": "line one\\n{}\\nline two"}}',
    "Found `{}` in the log.",
    "curl 'https://api.host.io/v1?x={}&y=2'",
    "see {}, then go on",
    "\x1b[32m{}\x1b[0m",
    "12\tvalue = '{}'",
)


def build(shape: str, rng: random.Random) -> str:
    """A token of that shape."""
    out = []
    for piece in shape.split("{"):
        spec, closed, rest = piece.partition("}")
        if not closed:
            out.append(spec)
            continue
        if spec:
            letters = CLASSES[spec[0]]
            length = int(spec[1:])
            # No body begins or ends with a sign that a sentence could own; vendors' encodings rarely do either.
            body = [rng.choice(letters) for _ in range(length)]
            if length > 8 and len(letters) > 40:
                body[0], body[-1] = rng.choice(LOWER), rng.choice(LOWER)
                if spec[0] != "z":
                    body[length // 2], body[length // 3] = rng.choice(DIGIT), rng.choice(DIGIT)
            out.append("".join(body))
        out.append(rest)
    return "".join(out)


def vendor_vectors() -> list[Vector]:
    """Every shape in a dozen surroundings."""
    rng = random.Random(20261118)
    out = []
    for family, shapes in SHAPES.items():
        for shape in shapes:
            for number in range(PER_SHAPE):
                secret = build(shape, rng)
                out.append(Vector(family, CONTEXTS[number % len(CONTEXTS)].format(secret), secret))
    return out


def _opaque(rng: random.Random, length: int = 32) -> str:
    return build(f"{{a{length}}}", rng)


def _pem(rng: random.Random, kind: str = "RSA PRIVATE KEY", lines: int = 6) -> str:
    body = "\n".join(build("{b64}", rng) for _ in range(lines))
    return f"-----BEGIN {kind}-----\n{body}\n{build('{b21}', rng)}=\n-----END {kind}-----"


ENV = ("DB_PASSWORD={}", "export API_KEY={}", "AWS_SECRET_ACCESS_KEY={}", "SECRET_KEY='{}'", 'GITHUB_TOKEN="{}"', "PGPASSWORD={} psql -h db",
       "ENV STRIPE_SECRET={}", "docker run -e ACCESS_TOKEN={} app", "MYSQL_ROOT_PASSWORD={}", "openai_api_key={}", "12\tSESSION_SECRET={}",
       "+JWT_SECRET={}", "set CLIENT_SECRET={}", "RABBITMQ_DEFAULT_PASS={}")  # fmt: skip
YAML = ("password: {}", "  api_key: {}", "client_secret: '{}'", '  token: "{}"', "- secret_key: {}", "db:\n  passwd: {}\n  port: 5432",
        "auth_token: {}  # rotated", "    access_key: {}", "encryption_key: {}", "smtp_password: {}", "7→  accessToken: {}", "stringData:\n  password: {}")  # fmt: skip
TOML = ('password = "{}"', "api_key = '{}'", 'secret = "{}"', 'auth_token = "{}"', "db.password = {}", 'client_secret = "{}" # prod', 'access_key = "{}"',
        'private_key = "{}"', "secret_key = {}", '[db]\npassword = "{}"\nhost = "x"', 'refresh_token = "{}"', 'admin_password = "{}"')  # fmt: skip
JSON_FIELD = ('{{"password": "{}"}}', '{{"apiKey":"{}"}}', '{{"access_token": "{}", "expires_in": 3600}}', "{{'client_secret': '{}'}}", '{{"clientSecret": "{}"}}',
              '{{"out": "{{\\"api_key\\": \\"{}\\"}}"}}', '{{"refreshToken" : "{}"}}', '  "secretKey": "{}",', '{{"auth": {{"token": "{}"}}}}',
              '{{"private_key_id": 1, "secret": "{}"}}', '{{"name": "DB_PASSWORD", "value": "{}"}}', '{{"dbPassword":"{}"}}')  # fmt: skip
CODE = ('token := "{}"', "'password' => '{}',", 'const apiKey: string = "{}";', 'password="{}"', 'self.secret_key = "{}"', ':api_token => "{}"',
        'if (token === "{}") {{', "db.connect(host='x', password='{}')", 'static final String API_KEY = "{}";', "let authToken = `{}`;",
        '$password = "{}";', 'private_key := "{}"', '#define API_KEY "x"\nchar *secret = "{}";')  # fmt: skip
HEADER = ("X-Api-Key: {}", "x-auth-token: {}", "X-Goog-Api-Key: {}", "curl -H 'X-API-Key: {}' https://x", "api-key: {}", '"X-Access-Token": "{}"', "X-Vault-Token: {}",
          "PRIVATE-TOKEN: {}", "Ocp-Apim-Subscription-Key: {}", "> x-api-key: {}", "X-Amz-Security-Token: {}", "X-Shopify-Access-Token: {}")  # fmt: skip
AUTHORIZATION = ("Authorization: Bearer {}", "authorization: token {}", "Proxy-Authorization: Bearer {}", "curl -H 'Authorization: Bearer {}' https://x",
                 '{{"Authorization": "Bearer {}"}}', "'authorization': 'Token {}',", "Authorization: {}", "> Authorization: Bearer {}", "Authorization: ApiKey {}",
                 'headers["Authorization"] = "Bearer {}"', "sent Bearer {} upstream", "Authorization: Bot {}", "Authorization=Bearer%20{}")  # fmt: skip
COOKIE = ("Cookie: session={}", "Set-Cookie: sid={}; Path=/; HttpOnly", "cookie: theme=dark; auth_token={}", 'curl -H "Cookie: JSESSIONID={}"', "Cookie: _gitlab_session={}",
          "set-cookie: connect.sid={}; Secure", '{{"Cookie": "sessionid={}; lang=en"}}', "Cookie: csrftoken={}; x=1", "Cookie: laravel_session={}",
          "< Set-Cookie: PHPSESSID={}; path=/", "Set-Cookie: __Host-token={}; SameSite=Lax", "Cookie: a=1; remember_me={}")  # fmt: skip
DATABASE = ("postgres://app:{}@db:5432/x", "postgresql+asyncpg://u:{}@h/db", "DATABASE_URL=mysql://root:{}@127.0.0.1/app", "mongodb+srv://me:{}@c0.mongodb.net",
            "redis://:{}@cache:6379/0", "amqp://guest:{}@mq//", "amqps://u:{}@mq.host/vh", '{{"url": "mariadb://u:{}@h"}}', "rediss://default:{}@x.upstash.io:6379",
            "clickhouse://default:{}@ch:9000", "mssql+pyodbc://sa:{}@host/db?driver=x", "connecting to mongodb://admin:{}@a,b,c/db")  # fmt: skip
USERINFO = ("https://user:{}@host/path", "http://admin:{}@10.0.0.1:8080/", "git clone https://x-access-token:{}@github.com/a/b", "ftp://me:{}@files.io",
            "https://oauth2:{}@gitlab.com/a/b.git", "proxy=http://u:{}@proxy:3128", "ssh://deploy:{}@h", "smtp://mailer:{}@smtp.host:587", "ldap://cn:{}@ldap.host",
            "wss://k:{}@ws.host/s", "index-url = https://ci:{}@pypi.host/simple", "cloudinary://123456789012345:{}@demo")  # fmt: skip
QUERY = ("https://x.io/cb?access_token={}", "https://x.io/cb?code={}&state=1", "GET /v1?api_key={} HTTP/1.1", "https://s3/x?X-Amz-Signature={}&a=1", "https://b/x?sv=1&sig={}",
         "https://m?key={}", "/reset?token={}", "https://h/?a=1&client_secret={}", "https://h/?refresh_token={}#f", '"https://h/?jwt=1&id_token={}"', "ws://h/s?auth={}",
         "https://h/?signature={}&Expires=1")  # fmt: skip
FORM = ("grant_type=x&client_secret={}", "client_secret={}&code=1", "username=joe&password={}", "password={}&username=joe", "a=1&refresh_token={}&b=2", "grant_type=code&code={}",
        "scope=y&session={}", "token={}&type=a", "user=a&api_key={}", "-d 'client_id=a&client_secret={}'", '{{"body": "a=1&password={}"}}', "id=1&access_token={}")  # fmt: skip
COMMAND = ("curl -u admin:{} https://x", "curl --user me:{} https://x", "sshpass -p {} ssh h", "sshpass -p'{}' ssh h", "mysql -uroot -p{} db", "tool --password {}", "tool --api-key {} run",
           "redis-cli -h x -a {}", "docker login -u me -p {}", "gh auth login --token {}", "helm --set x --registry-password '{}'", "vault login --token={}")  # fmt: skip
PASSWORDS = (
    "hunter2!",
    "s3cr3tPa55",
    "P@ssw0rd1",
    "Tr0ub4dor&3",
    "correct7horse",
    "zQ9#kd82",
    "m0nkeyBusiness9",
    "letmein123",
    "qwerty!9",
    "abc$9def",
    "Xk29dLm4",
    "blue42fish",
)


def _fill(family: str, templates: tuple[str, ...], rng: random.Random, *, passwords: bool = False) -> list[Vector]:
    out = []
    for number, template in enumerate(templates):
        secrets = [_opaque(rng), _opaque(rng, 24)]
        if passwords:
            secrets.append(
                PASSWORDS[number % len(PASSWORDS)]
                .replace("&", "x")
                .replace("#", "h")
                .replace("@", "a")
                .replace("$", "s")
            )
        out += [Vector(family, template.format(secret), secret) for secret in secrets]
    return out


def structural_vectors() -> list[Vector]:
    """Secrets known by where they stand."""
    rng = random.Random(7)
    out = _fill("env-assignment", ENV[:1], rng, passwords=True) + _fill("env-assignment", ENV[1:], rng)
    out += (
        _fill("yaml-assignment", YAML, rng) + _fill("toml-assignment", TOML, rng) + _fill("json-field", JSON_FIELD, rng)
    )
    out += [Vector("env-assignment", f"DB_PASSWORD={p}", p) for p in PASSWORDS]
    out += [Vector("yaml-assignment", f"password: '{p}'", p) for p in PASSWORDS]
    out += [Vector("json-field", json.dumps({"password": p, "user": "x"}), p) for p in PASSWORDS]
    out += [Vector("toml-assignment", f'password = "{p}"', p) for p in PASSWORDS]
    out += [Vector("code-assignment", f"connect(user='x', password='{p}')", p) for p in PASSWORDS]
    out += (
        _fill("code-assignment", CODE, rng) + _fill("header", HEADER, rng) + _fill("authorization", AUTHORIZATION, rng)
    )
    out += [
        Vector("authorization", f"Authorization: Basic {b}", b)
        for b in (base64.b64encode(f"u{i}:{_opaque(rng, 9 + i)}".encode()).decode() for i in range(6))
    ]
    out += (
        _fill("cookie", COOKIE, rng)
        + _fill("database-url", DATABASE, rng, passwords=True)
        + _fill("url-userinfo", USERINFO, rng, passwords=True)
    )
    out += (
        _fill("url-query", QUERY, rng)
        + _fill("form-body", FORM, rng)
        + _fill("command-line", COMMAND, rng, passwords=True)
    )
    return out + _block_vectors(rng)


def _block_vectors(rng: random.Random) -> list[Vector]:
    out = []
    for kind in (
        "RSA PRIVATE KEY",
        "PRIVATE KEY",
        "EC PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "DSA PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
    ):
        pem = _pem(rng, kind)
        line = pem.splitlines()[3]
        cut = pem[: len(pem) // 2]
        tail = pem[len(pem) // 2 :]
        out += [
            Vector("private-key", f"before\n{pem}\nafter", line),
            Vector("private-key", json.dumps({"private_key": pem}), line),
        ]
        out += [
            Vector("private-key", cut, line[:30]),
            Vector("private-key", f"{cut} ... [truncated]", line[:30]),
            Vector("private-key", tail, tail.splitlines()[1]),
        ]
        out.append(Vector("private-key", "\n".join(f"{n:6}\t{row}" for n, row in enumerate(pem.splitlines())), line))
        out.append(Vector("private-key", "\n".join(f"+{row}" for row in pem.splitlines()), line))
        out.append(Vector("private-key", "key: |\n" + "\n".join(f"    {row}" for row in pem.splitlines()), line))
        out.append(Vector("private-key", json.dumps(json.dumps({"k": pem})), line))
        out.append(Vector("private-key", "\n".join(f"{n:6}→{row}" for n, row in enumerate(pem.splitlines())), line))
    head = base64.urlsafe_b64encode(json.dumps({"alg": "HS256", "typ": "JWT"}).encode()).decode().rstrip("=")
    for number in range(PER_SHAPE):
        body = (
            base64.urlsafe_b64encode(json.dumps({"sub": number, "name": _opaque(rng, 10)}).encode())
            .decode()
            .rstrip("=")
        )
        jwt = f"{head}.{body}.{build('{w43}', rng)}"
        out.append(Vector("jwt", CONTEXTS[number].format(jwt), jwt))
    for number in range(PER_SHAPE):
        hook = (
            f"https://hooks.slack.com/services/T{build('{u8}', rng)}/B{build('{u8}', rng)}/{{}}",
            f"https://discord.com/api/webhooks/{build('{n18}', rng)}/{{}}",
        )[number % 2]
        secret = build("{a24}" if number % 2 == 0 else "{w68}", rng)
        out.append(Vector("webhook-url", f"POST {hook.format(secret)} ok", secret))
    for number, phone in enumerate(("+14155552671", "+442071838750", "+4915112345678", "+33612345678", "+819012345678", "+8613812345678", "+5511987654321", "+61412345678",
                                    "+919876543210", "+27821234567", "+1 (415) 555-2671", "+44 20 7183 8750")):  # fmt: skip
        out.append(
            Vector("phone", ("call {} now", '{{"to": "{}"}}', "Phone: {}", "({})")[number % 4].format(phone), phone)
        )
    for number in range(PER_SHAPE):
        who = build("{n18}", rng).replace("0", "7")
        out.append(
            Vector(
                "discord-mention",
                ("hi <@{}>!", "<@!{}> joined", "ask <@&{}>", "see <#{}>")[number % 4].format(who),
                who,
            )
        )
        password = PASSWORDS[number].replace("$", "s")
        out.append(
            Vector(
                "sql",
                (
                    "CREATE USER a IDENTIFIED BY '{}';",
                    "ALTER ROLE a WITH PASSWORD '{}';",
                    "create user b with encrypted password '{}'",
                )[number % 3].format(password),
                password,
            )
        )
        out.append(Vector("netrc", f"machine h{number} login me password {password}", password))
        out.append(
            Vector(
                "xml-element",
                ("<password>{}</password>", "<db:password>{}</db:password>")[number % 2].format(password),
                password,
            )
        )
        secret = _opaque(rng)
        out.append(Vector("xml-element", f"  <secretKey>{secret}</secretKey>", secret))
    return out


NEAR_MISSES = (
    "commit 3f2a9c1b7e4d5f60718293a4b5c6d7e8f9012345",
    "id: 550e8400-e29b-41d4-a716-446655440000",
    "session_id=550e8400-e29b-41d4-a716-446655440000",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    '"integrity": "sha512-z1PGQ2xVfPtPjMYcGdlhVqmKyvMmWtSkmDUHc1vZbbIkKkzWlP2bLWhYm4NsXJBAzzKUDGkVe4Bq1xIxqDxZRw=="',
    "password: <YOUR_PASSWORD>", "API_KEY=your-api-key-here", "API_KEY=xxxxxxxxxxxxxxxxxxxx", "TOKEN=$TOKEN", 'token = "${TOKEN}"', "password = os.environ['DB_PASSWORD']",
    "apiKey: process.env.API_KEY,", "const token = await getToken();", "password: string", "token: str | None = None", "def login(user, password):", "max_tokens=4096",
    "token_count: 1234", '"tokens": 512', "secretName: my-tls-secret", "password=password", "self.password = password", "if token == other_token:", "key = f'{prefix}:{name}'",
    "Authorization: Bearer <token>", 'headers = {"Authorization": f"Bearer {token}"}', "Authorization: Bearer ${TOKEN}", "basic authentication is required", "https://host/path@v1.2.3",
    "git@github.com:org/repo.git", "http://localhost:3000/@vite/client", "postgres://${USER}:${PASS}@db/x", "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A",
    'if "-----BEGIN RSA PRIVATE KEY-----" in text:', "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "ghp_short",
    "task-list-item-with-a-long-css-name", "sk-fading-circle-with-twelve-dots", "AKIA", "npm_config_registry", "hf_hub_download(repo_id)", "@@ -1,5 +1234567,8 @@", "+1700000000",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "eyJhbGciOiJIUzI1NiJ9", "process exited with code=404",
    "?page=2&key=name", "cookie: theme=dark; lang=en", "<@user>", "version 1.2.3+20130313144700", "secret: my-secret", "password: ********", "password: [REDACTED]", 'type="password"',
    "passwordField: true", "Password: required", "the password is wrong", "token: string;", 'apiKey: "YOUR_API_KEY"', "SECRET_KEY = config('SECRET_KEY')", "api_key={{ api_key }}",
    "password: !vault |", "${{ secrets.GITHUB_TOKEN }}", "GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}", "author=Smith", "monkey=banana12345678", "keyboard: qwerty12345678abc", "tokenizer: cl100k_base",
    "etag: 33a64df551425fcc55e4d42a148795d9f25f89d4", "hash = 'd41d8cd98f00b204e9800998ecf8427e'", "curl -u $USER:$PASS https://x", "--token string   the token", "--password PASSWORD", "mkdir -p build/out1",
)  # fmt: skip


def recall() -> dict[str, tuple[int, int]]:
    """For each family: how many vectors are masked, of how many."""
    out: dict[str, tuple[int, int]] = {}
    for vector in vendor_vectors() + structural_vectors():
        good, total = out.get(vector.family, (0, 0))
        out[vector.family] = (good + (vector.secret not in redact(vector.text)), total + 1)
    return out


def test_recall_of_every_family() -> None:
    low = {family: (good, total) for family, (good, total) in recall().items() if total < 10 or good / total < 0.99}
    assert low == {}
    assert set(recall()) == set(FAMILIES)


@pytest.mark.parametrize("text", NEAR_MISSES)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert [(text[f.start : f.end], f.family) for f in find(text)] == []
