"""The corpus: secrets of every family, made at run time so that no scanner finds one here, and what only looks like one.

Shapes of vendors' tokens are written down here from what vendors issue, apart from the tables the redactor uses.
"""

from __future__ import annotations

import base64
import json
import random
import re
from dataclasses import dataclass

import pytest

from clew.redact import FAMILIES, find, redact
from tests.redact_shapes import CONTEXTS, LOOKALIKES, SHAPES, build

PER_SHAPE = 12


@dataclass(frozen=True, slots=True)
class Vector:
    """A text, and the part of it that must not be left in it."""

    family: str
    text: str
    secret: str


def vendor_vectors() -> list[Vector]:
    """Every shape in a dozen surroundings."""
    rng = random.Random(20261118)
    out: list[Vector] = []
    for family, shapes in SHAPES.items():
        for shape in shapes:
            # Five does not divide their number, so a shape sees places from the whole list.
            turn = len(out)
            for number in range(PER_SHAPE):
                secret = build(shape, rng)
                out.append(Vector(family, CONTEXTS[(turn + 5 * number) % len(CONTEXTS)].format(secret), secret))
    return out


def _opaque(rng: random.Random, length: int = 32) -> str:
    return build(f"{{a{length}}}", rng)


def _pem(rng: random.Random, kind: str = "RSA PRIVATE KEY", lines: int = 6) -> str:
    body = "\n".join(build("{b64}", rng) for _ in range(lines))
    return f"-----BEGIN {kind}-----\n{body}\n{build('{b21}', rng)}=\n-----END {kind}-----"


ENV = ("DB_PASSWORD={}", "export API_KEY={}", "AWS_SECRET_ACCESS_KEY={}", "SECRET_KEY='{}'", 'GITHUB_TOKEN="{}"', "PGPASSWORD={} psql -h db",
       "ENV STRIPE_SECRET={}", "docker run -e ACCESS_TOKEN={} app", "MYSQL_ROOT_PASSWORD={}", "openai_api_key={}", "12\tSESSION_SECRET={}",
       "+JWT_SECRET={}", "set CLIENT_SECRET={}", "RABBITMQ_DEFAULT_PASS={}")  # fmt: skip
YAML = ("env:\n  - name: DB_PASSWORD\n    value: {}", "  - name: API_TOKEN\n    value: '{}'","password: {}", "  api_key: {}", "client_secret: '{}'", '  token: "{}"', "- secret_key: {}", "db:\n  passwd: {}\n  port: 5432",
        "auth_token: {}  # rotated", "    access_key: {}", "encryption_key: {}", "smtp_password: {}", "7→  accessToken: {}", "stringData:\n  password: {}")  # fmt: skip
TOML = ('password = "{}"', "api_key = '{}'", 'secret = "{}"', 'auth_token = "{}"', "db.password = {}", 'client_secret = "{}" # prod', 'access_key = "{}"',
        'private_key = "{}"', "secret_key = {}", '[db]\npassword = "{}"\nhost = "x"', 'refresh_token = "{}"', 'admin_password = "{}"')  # fmt: skip
JSON_FIELD = ('{{\n  "name": "API_TOKEN",\n  "value": "{}"\n}}','{{"password": "{}"}}', '{{"apiKey":"{}"}}', '{{"access_token": "{}", "expires_in": 3600}}', "{{'client_secret': '{}'}}", '{{"clientSecret": "{}"}}',
              '{{"out": "{{\\"api_key\\": \\"{}\\"}}"}}', '{{"refreshToken" : "{}"}}', '  "secretKey": "{}",', '{{"auth": {{"token": "{}"}}}}',
              '{{"private_key_id": 1, "secret": "{}"}}', '{{"name": "DB_PASSWORD", "value": "{}"}}', '{{"dbPassword":"{}"}}')  # fmt: skip
CODE = ('const k = process.env.API_KEY || "{}";', 'key = os.getenv("API_KEY") or "{}"', 'jwt.sign(payload, "{}")', 'jwt.verify(token, "{}")', 'let api_key = String::from("{}");',
        'smtp.login("bot@host.io", "{}")','token := "{}"', "'password' => '{}',", 'const apiKey: string = "{}";', 'password="{}"', 'self.secret_key = "{}"', ':api_token => "{}"',
        'if (token === "{}") {{', "db.connect(host='x', password='{}')", 'static final String API_KEY = "{}";', "let authToken = `{}`;",
        '$password = "{}";', 'private_key := "{}"', '#define API_KEY "x"\nchar *secret = "{}";')  # fmt: skip
PROSE = (
    "Your temporary password is: {}",
    "[Note] A temporary password is generated for root@localhost: {}",
    "the password for admin is {}",
    "Password for user joe: {}",
)
PIPED = ("echo '{}' | docker login -u me --password-stdin host", 'echo "{}" | sudo -S apt update', "printf '%s' '{}' | gh auth login --password-stdin",
         "echo -n {} | podman login reg.host --password-stdin")  # fmt: skip
HEADER = ("X-Api-Key: {}", "x-auth-token: {}", "X-Goog-Api-Key: {}", "curl -H 'X-API-Key: {}' https://x", "api-key: {}", '"X-Access-Token": "{}"', "X-Vault-Token: {}",
          "PRIVATE-TOKEN: {}", "Ocp-Apim-Subscription-Key: {}", "> x-api-key: {}", "X-Amz-Security-Token: {}", "X-Shopify-Access-Token: {}")  # fmt: skip
AUTHORIZATION = ("Authorization: Bearer {}", "authorization: token {}", "Proxy-Authorization: Bearer {}", "curl -H 'Authorization: Bearer {}' https://x",
                 '{{"Authorization": "Bearer {}"}}', "'authorization': 'Token {}',", "Authorization: {}", "> Authorization: Bearer {}", "Authorization: ApiKey {}",
                 'headers["Authorization"] = "Bearer {}"', "sent Bearer {} upstream", "Authorization: Bot {}", "Authorization=Bearer%20{}")  # fmt: skip
DIGEST = ('Authorization: Digest username="u", realm="r", uri="/", response="{}"', 'Authorization: Hawk id="u", ts="1", mac="{}"',
          'Authorization: OAuth oauth_consumer_key="u", oauth_token="{}"')  # fmt: skip
COOKIE = ('cookies={{"sessionid": "{}"}}', "Cookie: session={}", "Set-Cookie: sid={}; Path=/; HttpOnly", "cookie: theme=dark; auth_token={}", 'curl -H "Cookie: JSESSIONID={}"', "Cookie: _gitlab_session={}",
          "set-cookie: connect.sid={}; Secure", '{{"Cookie": "sessionid={}; lang=en"}}', "Cookie: csrftoken={}; x=1", "Cookie: laravel_session={}",
          "< Set-Cookie: PHPSESSID={}; path=/", "Set-Cookie: __Host-token={}; SameSite=Lax", "Cookie: a=1; remember_me={}")  # fmt: skip
DATABASE = ("postgres://app:{}@db:5432/x", "postgresql+asyncpg://u:{}@h/db", "DATABASE_URL=mysql://root:{}@127.0.0.1/app", "mongodb+srv://me:{}@c0.mongodb.net",
            "redis://:{}@cache:6379/0", "amqp://guest:{}@mq//", "amqps://u:{}@mq.host/vh", '{{"url": "mariadb://u:{}@h"}}', "rediss://default:{}@x.upstash.io:6379",
            "clickhouse://default:{}@ch:9000", "mssql+pyodbc://sa:{}@host/db?driver=x", "connecting to mongodb://admin:{}@a,b,c/db", "jdbc:oracle:thin:scott/{}@//db:1521/x")  # fmt: skip
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
        + _fill("authorization", DIGEST, rng)
        + _fill("database-url", DATABASE, rng, passwords=True)
        + _fill("url-userinfo", USERINFO, rng, passwords=True)
    )
    out += (
        _fill("url-query", QUERY, rng)
        + _fill("form-body", FORM, rng)
        + _fill("command-line", COMMAND, rng, passwords=True)
        + _fill("command-line", PIPED, rng, passwords=True)
    )
    return out + _everyday(rng) + _block_vectors(rng)


def _everyday(rng: random.Random) -> list[Vector]:
    drawn = [p for p in PASSWORDS if not set(p) & set("&#@$!")]
    out = []
    for family, templates in EVERYDAY_PASSWORDS.items():
        out += [
            Vector(family, template.format(p), p) for template in templates for p in (drawn[0], drawn[3], drawn[-2])
        ]
    for family, templates in EVERYDAY_TOKENS.items():
        out += _fill(family, templates, rng)
    out += [Vector("prose", text, re.split('[=: "]', text.rstrip('";}'))[-1]) for text in THOUGHT_UP]
    out += [Vector("phone", text, re.sub("[^0-9]", "", text)[-4:]) for text in PHONES]
    return out + [Vector("discord-mention", text, "157479218442352252") for text in MENTIONS]


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
        out.append(
            Vector("private-key", "\n".join(f"deploy/id_rsa-{n}-{row}" for n, row in enumerate(pem.splitlines())), line)
        )
        out.append(Vector("private-key", pem.replace("\n", "&#10;"), line))
        out.append(Vector("private-key", json.dumps(pem).replace("/", "\\/"), line.split("/")[0]))
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
        out.append(Vector("prose", PROSE[number % len(PROSE)].format(password), password))
        out.append(
            Vector(
                "table-cell",
                ("| DB_PASSWORD | {} |", "| `smtp_password` | `{}` | x |")[number % 2].format(password),
                password,
            )
        )
        key = _opaque(rng)
        out.append(
            Vector("table-cell", ("API_TOKEN | {} | prod", " api_key        | {} ")[number % 2].format(key), key)
        )
        hashed = "{SSHA}" + build("{a38}", rng)
        out.append(Vector("password-hash", f"userPassword: {hashed}", hashed))
        secret = _opaque(rng)
        out.append(Vector("xml-element", f"  <secretKey>{secret}</secretKey>", secret))
    return out


# Where people really write them: tools, files and encodings of every day. Filled with passwords, with what a machine drew, or both.
EVERYDAY_PASSWORDS = {
    "env-assignment": ("DB_PASSWORD={}", "PASS={}", "<output>DB_PASSWORD={}</output>", "SSHPASS={} sshpass -e ssh h", "- MYSQL_PASSWORD={}", "requirepass {}", "masterauth {}", "Server=db;UID=sa;PWD={};Encrypt=True"),
    "yaml-assignment": ("ansible_become_pass: {}", "- **Password:** {}", "  12\t    password: {}", "MYSQL_ROOT_PASSWORD: {}"),
    "toml-assignment": ('+ password                = "{}"', '~ master_password = "xK4old9" -> "{}"', 'variable "db_password" {{\n  type    = string\n  default = "{}"\n}}'),
    "json-field": ('[{{"Key": "DbPassword", "Value": "{}"}}]', '{{"ParameterKey":"DBPassword","ParameterValue":"{}"}}'),
    "code-assignment": ("HTTPBasicAuth('bob', '{}')", "BASIC_AUTH=admin:{}", "await page.type('input[name=password]', '{}');"),
    "form-body": ("user%5Bpassword%5D={}&user%5Bname%5D=bob", 'Content-Disposition: form-data; name="password"\r\n\r\n{}\r\n--x'),
    "database-url": ('{{"url":"postgres:\\/\\/app:{}@db\\/app"}}', "user:{}@tcp(127.0.0.1:3306)/db?parseTime=true"),
    "command-line": ("echo 'bob:{}' | chpasswd", "unrar x -p{} a.rar", "nxc smb 10.0.0.1 -u bob -p {}", "openssl enc -aes-256-cbc -k {} -in a", "http -a bob:{} GET x.io",
                     'ConvertTo-SecureString "{}" -AsPlainText -Force', "keytool -storepass {} -genkey"),
    "url-query": ("https://x.io/login?user=b&password={}",),
    "sql": ("ALTER LOGIN sa WITH PASSWORD = N'{}'",),
    "netrc": ("machine a.io\n  login me@x.io\n  password {}",),
    "xml-element": ('<property name="hibernate.connection.password">{}</property>',),
    "prose": ("The password is {} for now",),
}  # fmt: skip
EVERYDAY_TOKENS = {
    "env-assignment": ("AZURE_DEVOPS_EXT_PAT={}", "//nexus.corp/:_auth = {}"),
    "toml-assignment": ('access_token = """{}"""',),
    "json-field": ('{{"key_material": "{}"}}', '{{"bearer": "{}"}}', '{{"secret_input": "{}"}}'),
    "authorization": ("Authorization: GenieKey {}", "Authorization: Acme-Key {}", "Authorization: Sentry sentry_key={}, sentry_version=7"),
    "header": ("Fastly-Key: {}",),
    "yaml-assignment": ("encryption:\n  key: {}aB3xK9aB3xK9", "rapidapi_key: {}aB3xK9aB3xK9"),
    "cookie": ('driver.add_cookie({{"name": "session", "value": "{}", "domain": ".x.io"}})', ".x.io\tTRUE\t/\tTRUE\t1735689600\tsession_id\t{}"),
    "command-line": ("http --auth-type bearer --auth {} GET x.io",),
    "prose": ("my api key is {}", "I set the token to {}"),
}  # fmt: skip
# Of words about secrets, and yet given for one.
THOUGHT_UP = ("DB_PASSWORD=MySecretPassword", "password: super_secret_password_123", '{"password": "supersecret"}', "password=dev_password_2024", "JWT_SECRET=my-super-secret-key",
              'POSTGRES_PASSWORD: "admin@123"', "password: Password1", 'db_password = "prod-db-pass-9931"', "user=sa;Password=secret123;", "DEBUG dbPassword: hunter2", "tool --db-password mysecretpassword", "ENV DB_PASSWORD mysecretpassword", "https://h.io/p?deploy_token=vHPnBDcqdRDgJiMmKIIL", "The password is hunter2")  # fmt: skip
PHONES = ("+44 (0)20 7946 0958", "From=%2B14155550132&x=1", "ring (415) 555-0132 now", "+1 (800) 555\u20110199", '"phone": "415-555-0132"', 'phone_number = "4155550132"', "Phone: 0171 2345678", "sms +91-9876543210")  # fmt: skip
MENTIONS = ("\\u003c@157479218442352252\\u003e hi", "\\u003c@\\u0026157479218442352252\\u003e hi")
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
    "etag: 33a64df551425fcc55e4d42a148795d9f25f89d4", "hash = 'd41d8cd98f00b204e9800998ecf8427e'", "curl -u $USER:$PASS https://x", "--token string   the token", "| token | description |", "the password is required", "the token is: invalid", "password for the keystore: none", "the password is stored in plain text", "secret for tests: see docs",
    "password hint is: my-dog", "its token is next", 'const key = name || "value"', 'process.env.TOKEN || ""', "jwt.verify(token, secret)", 'login("user", password)', "- name: token\n  value: {{ token }}",
    "- name: PASSWORD_FILE\n  value: /run/secrets/pw", "- name: MAX_TOKENS\n  value: 4096", "'password' => 'required|min:8|confirmed',", "| password | string | required |", "| `api_key` | Your API key | yes |", "| PASSWORD | the login password |",
    "| key | value |", "token | null", "echo $PASSWORD | docker login --password-stdin", "echo hello | tee password-stdin.log", "arn:aws:secretsmanager:us-east-1:123456789012:secret:prod/db-AbCdEf",
    'password: "form.labels.password-hint"', 'password: "must-contain-digits"', "--password PASSWORD", "mkdir -p build/out1",
    "requests/utils.py: login / password\n    login_i = 0", '"AWS::ApiGateway::ApiKey": "48205d4ffd7feba3"', '"PASSWORD" || "PHONE"', "if key == 'kerberos-5i-read-only':", 'token = r"[-!#$%&*+.^_|~0-9a-zA-Z]+"',
    "https://play.host/?code=%23!%5Ballow(unused)%5D%0Afn+main()", "self.allow_passphrase = allow_passphrase", "password=PasswordProperty(hashfunc=hashfunc)", "<code>1234abcd-12ab-34cd-56ef-1234567890ab</code>",
    "'w32-unregister-hot-key', 'w32-window-exists-p'", "# requirepass foobared", "the password is base64 encoded", "phone: 12", "phone: string", "f(200) 404", "(800) is the exit code", 'variable "key_name" {\n  default = "deployer-key"\n}',
    'form-data; name="username"\r\n\r\nbob1234', "CREDENTIALS: T1098.001",
    "Idempotency-Key: 8e03978e40d543e8bc936894a57f9324ab", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "key: 3f786850e387550fdab836ed7e6dc881de23001b", "the token to use", "ENV ACCESS_TOKEN my-token", "setx API_TOKEN some-name", "stored password: sha256", "DEBUG password: invalid", "the user's password: required", "def f(password: String2)", "GPG_KEY=A035C8C19219BA821ECEA86B64E628F8D684696D", "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus", 'var recaptcha_site_key = "6Lf3KHUUAAAAACggoMpmGJdQDtiyrjVlvGJ6BbAj"', "PASS: tests/test_a.py", "PASS=12", 'public_key: "dGhpcyBpcyBhIHB1YmxpYyBrZXkgMTIzNDU2Nzg5MA"', 'Pwd:             "/a/b/1234/d/e",', "Pwd: `\\home\\src\\project\\src\\deep`,", "pwd=/srv/build-7f3a/x9", "- key: users-by-name-2024",
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


@pytest.mark.parametrize("family", sorted(LOOKALIKES))
def test_what_only_begins_like_a_token_stays(family: str) -> None:
    for lookalike in LOOKALIKES[family]:
        for context in (CONTEXTS[0], *CONTEXTS[2:12]):  # the second says that what follows is a token
            text = context.format(lookalike)
            assert [(text[f.start : f.end], f.family) for f in find(text)] == []


def test_a_shape_with_nothing_in_it_is_no_token() -> None:
    for shapes in SHAPES.values():
        for shape in shapes:
            blank = re.sub(r"\{.(\d+)\}", lambda m: "x" * int(m[1]), shape).replace("{}", "")
            assert [(blank, f.family) for f in find(f"see {blank} there")] == []
