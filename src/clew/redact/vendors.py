"""The tokens that vendors mark with a prefix, as data.

One row a shape: family, prefix, alphabet of the body, least length of the body, flags. A prefix is literal except that
`[abc]` stands for one of its characters. Least lengths lie below what vendors issue today: a token cut by a few
characters is still worth hiding, and what tells a token from a word is the mixture in its body, checked apart.

Alphabets: A letters and digits; W also `_` and `-`; D also `.`; H hex; U capitals and digits; L lower case and digits;
B base64; G hex and `-` (UUIDs); the rest are one vendor's own. Flags: `x` the token is as long as said (a longer run is
something else); `m` the body must mix digits with letters; `l` it may be a whole key, not only a token.

The family `unnamed` holds the words that vendors not listed here put before their tokens (`acme_sk_…`, `acme_live_…`).
"""

from __future__ import annotations

ALPHABETS = {
    "A": "A-Za-z0-9",
    "W": r"A-Za-z0-9_\-",
    "D": r"A-Za-z0-9_.\-",
    "H": "A-Fa-f0-9",
    "U": "A-Z0-9",
    "L": "a-z0-9",
    "B": "A-Za-z0-9+/=",
    "G": r"A-Fa-f0-9\-",
    "C": r"A-Za-z0-9_.:%$+/=~\-",
    "V": r"A-Z0-9\-",
    "Y": "A-Z0-9_",
    "P": "A-Za-z0-9%",
    "Q": "A-Za-z0-9.",
    "N": "0-9",
    "E": r"A-Za-z0-9_.:,#^$%+/=\-",
}

# The most a body may run on; past it, what follows is somebody else's text.
LONGEST = 2048
LONGEST_KEY = 16384

TABLE = """
anthropic        sk-ant-              W 20
openrouter       sk-or-v1-            H 30
langfuse         [sp]k-lf-            G 30
openai           sk-proj-             W 20 m
openai           sk-svcacct-          W 20 m
openai           sk-admin-            W 20 m
openai           sk-                  D 16 m
openai           sess-                A 36 m
xai              xai-                 A 30
groq             gsk_                 A 20 m
perplexity       pplx-                A 20 m
huggingface      hf_                  A 20
huggingface      api_org_             A 30
replicate        r8_                  A 30
cerebras         csk-                 L 30 m
nvidia           nvapi-               W 30
fireworks        fw_                  A 20 m
fireworks        fpk_                 A 20 m
fireworks        fw-                  A 30 m
together         tgp_v1_              W 30
tavily           tvly-                W 20 m
firecrawl        fc-                  H 32 x
jina             jina_                W 40
voyage           pa-                  W 40 m
pinecone         pcsk_                W 30
elevenlabs       sk_                  H 44
langsmith        lsv2_[ps][tk]_       W 30
langsmith        ls__                 H 30
e2b              e2b_                 H 32
browserbase      bb_live_             W 20
browserbase      bb_test_             W 20 m
runpod           rpa_                 A 36
cursor           crsr_                H 40
cursor           key_                 H 60
anyscale         esecret_             A 20
mem0             m0-                  A 36 m
mem0             mem0_                A 20 m
wandb            wandb_v1_            W 30
friendli         flp_                 A 36
modal            a[ks]-               A 22 mx
fal              fal_                 W 20 m
codex            gAAAAA               W 40
agentmail        am_                  A 20 m
agentmail        am_[a-z][a-z]_       A 20 m
exa              exa_                 A 20 m
retaindb         retaindb_            A 16 m
hindsight        hsk-                 A 20 m
byterover        brv_                 A 20 m
brave            BSA                  W 26 m
context7         ctx7sk-              W 20
daytona          dtn_                 H 40
cartesia         sk_car_              A 20
braintrust       bt-st-               A 30
composio         ak_                  A 18 m
coze             pat_                 A 40 m
steel            ste-                 A 50 m
you              ydc-sk-              W 20 m
unkey            unkey_               A 20 m
aws              A[KSBC][ICS]A        U 16 x
aws              A3T[A-Z0-9]          U 16 x
aws              ABSK                 B 60
aws              bedrock-api-key-     B 30
aws-mws          amzn.mws.            G 36
amazon           amzn1.oa2-cs.v1.     H 60
amazon           Atz[ra]|             W 60
google           AIza                 W 33
google           GOCSPX-              W 24
google           ya29.                D 30
google           AQ.Ab                W 30
google           1//0                 W 30
google           GOOG1E               U 40
alibaba          LTAI                 A 16 m
baidu            bce-v3/ALTAK-        C 40
jdcloud          JDC_                 U 26 m
volcengine       AKLT                 W 30 m
tencent          AKID                 A 32 mx
yandex           AQVN                 W 35
yandex           y0_                  W 40
yandex           t1.9eue              D 60
yandex           YCAJE                W 20
yandex           YC                   W 38 mx
digitalocean     d[oO][por]_v1_       H 40
heroku           HRKU-                W 36
flyio            fo1_                 W 40
flyio            fm[12][ar]_          B 60
flyio            fm2_                 B 60
render           rnd_                 A 24 m
netlify          nf[pcoubk]_          A 30
vercel           vc[pirak]_           A 24 m
vercel           vercel_blob_rw_      W 20
cloudflare       v1.0-                G 100
cloudflare       cf[ua]t_             W 36
cloudflare       cfk_                 W 36
supabase         sbp_                 H 36
supabase         sb_secret_           W 20
deno             dd[pwo]_             A 36 mx
xata             xau_                 A 30
scaleway         SCW                  U 17 mx
elastic          essu_                C 40
confluent        cflt                 B 56 m
localstack       ls-                  W 28 m
neon             napi_                L 40
planetscale      pscale_tkn_          D 30
planetscale      pscale_oauth_        D 30
planetscale      pscale_pw_           D 30
mongodb-atlas    mdb_sa_sk_           W 30
aiven            AVNS_                W 15
cockroach        CCDB1_               W 30
databricks       dapi                 H 32
databricks       dose                 H 32 x
doppler          dp.[psca][tai].      D 36
doppler          dp.scim.             A 36
doppler          dp.audit.            A 36
vault            hv[sbr].             W 20 m
pulumi           pul-                 H 36
infracost        ico-                 A 30
scalingo         tk-us-               W 40
prefect          pn[ub]_              A 32
dbt              dbt[cu]_             W 32
harness          [ps]at.              D 60 m
octopus          API-                 U 26 x
launchdarkly     api-                 G 36 x
launchdarkly     sdk-                 G 36 x
circleci         CCIPAT_              W 30
circleci         CCIPRJ_              W 30
buildkite        bk[uac]a_            H 36
buildkite        bkct_                A 30
buildkite        bk[a-z][a-z]_        A 36 m
sonar            sq[upa]_             H 38
snyk             snyk_uat.            D 30
tailscale        tskey-               W 20
onepassword      ops_eyJ              B 100
onepassword      A3-                  V 30 m
age              AGE-SECRET-KEY-1     U 50
openshift        sha256~              W 40
portainer        ptr_                 B 40 m
base64-key       LS0tLS1CRUdJTiBSU0EgUFJJVkFURS B 60 l
base64-key       LS0tLS1CRUdJTiBQUklWQVRFIEtFWS B 60 l
base64-key       LS0tLS1CRUdJTiBFQyBQUklWQVRFIE B 60 l
base64-key       LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVE B 60 l
base64-key       LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJVkFURS B 60 l
base64-key       LS0tLS1CRUdJTiBEU0EgUFJJVkFURS B 60 l
base64-key       LS0tLS1CRUdJTiBQR1AgUFJJVkFURS B 60 l
base64-jwt       ZXlK                 B 80 ml
password-hash    $2[abxy]$[0-9][0-9]$ C 50
password-hash    $[156y]$             C 26 m
password-hash    $apr1$               C 24 m
password-hash    $argon2              E 40
password-hash    $scrypt$             E 40
password-hash    {SSHA}               B 28
password-hash    {SHA}                B 20
secret-token     secret-token:        C 20
docker           dckr_pat_            W 24
docker           dckr_oat_            W 24
github           gh[pousr]_           A 30
github           gh[pousr]_           A 16 m
github           github_pat_          W 22
gitlab           glpat-               D 18
gitlab           gl[rd]t-             D 18
gitlab           glrtr-               D 18
gitlab           glcbt-               D 18
gitlab           glptt-               W 18
gitlab           gl[fw]t-             W 18
gitlab           glimt-               W 18
gitlab           glagent-             W 18
gitlab           glsoat-              W 18
gitlab           gloas-               W 18
gitlab           glffct-              W 18
gitlab           GR1348941            W 18
bitbucket        ATBB                 A 28 m
bitbucket        ATCTT3               C 50
atlassian        ATATT3               C 50
atlassian        ATSTT3               C 50
trello           ATTA                 H 60
sourcegraph      sgp_                 W 36
sourcegraph      slk_                 H 60
npm              npm_                 A 32
pypi             pypi-                W 20 m
rubygems         rubygems_            H 44
crates           cio                  A 32 mx
clojars          CLOJARS_             L 50
nuget            oy2                  L 43 mx
jfrog            AKCp                 A 60
jfrog            cmVmd                A 55
packagist        packagist_[a-z][a-z][a-z]_  H 50
openvsx          ovsxat_              G 36
postman          PMAK-                G 50
postman          PMAT-                U 24
readme           rdme_                L 60
sentry           sntrys_eyJ           C 60
sentry           sntry[uai]_          H 60
newrelic         NRAK-                A 24
newrelic         NRJS-                H 18
newrelic         NRII-                W 30
newrelic         NRRA-                H 40
grafana          glsa_                W 36
grafana          glc_                 B 30
grafana          eyJrIjoi             B 60
dynatrace        dt0[cs][0-9][0-9].   D 60
honeycomb        hc[abcxyz]ik_        A 50
logicmonitor     lm[ab]_              B 40 m
statsig          secret-              W 36 m
wakatime         waka_                G 36
devcycle         dvc_[a-z][a-z][a-z][a-z][a-z][a-z]_ W 30
inngest          signkey-             W 40 m
trigger          tr_dev_              A 16 m
trigger          tr_prod_             A 16 m
fullstory        na1.                 B 50 m
endorlabs        endr+                A 16 m
axiom            xa[ap]t-             G 36
logfire          pylf_v               W 30
posthog          ph[xs]_              A 36
stripe           sk_live_             A 8 m
stripe           sk_test_             A 8 m
stripe           sk_prod_             A 8 m
stripe           rk_live_             A 8 m
stripe           rk_test_             A 8 m
stripe           rk_prod_             A 8 m
stripe           whsec_               B 24 m
checkout         sk_sbx_              L 26 m
cashfree         cfsk_                W 30 m
midtrans         SB-Mid-server-       W 20
midtrans         Mid-server-          W 20
pagarme          ak_live_             A 20 m
ramp             ramp_sec_            A 30
recharge         sk_[0-9]x[0-9]_      H 40
lob              live_                H 35 x
lob              test_                H 35 x
lob              live_pub_            H 31 x
lob              test_pub_            H 31 x
gocardless       live_                W 40 m
gocardless       sandbox_             W 40 m
onfido           api_live             D 40 m
ebay             v^1.1#i^1#           E 60
robinhood        rh-api-              G 36
square           sq0atp-              W 22
square           sq0csp-              W 40
square           EAAA                 W 56 m
paypal           A21AA                W 80
braintree        access_token$production$  C 40
braintree        access_token$sandbox$     C 40
razorpay         rzp_live_            A 14
razorpay         rzp_test_            A 14
flutterwave      FLWSECK-             W 30
flutterwave      FLWSECK_TEST-        W 12
flutterwave      FLWPUBK              W 34 m
plaid            access-sandbox-      G 36
plaid            access-development-  G 36
plaid            access-production-   G 36
shippo           shippo_live_         H 36
shippo           shippo_test_         H 36
easypost         EZ[AT]K              A 54 mx
duffel           duffel_live_         W 40
duffel           duffel_test_         W 40
paddle           pdl_live_apikey_     W 30
paddle           pdl_sdbx_apikey_     W 30
polar            polar_[a-z][a-z][a-z]_  W 30
sendgrid         SG.                  D 20 m
sendinblue       xkeysib-             W 70
sendinblue       xsmtpsib-            W 70
mailgun          key-                 L 32 mx
mailgun          pubkey-              L 32 mx
mandrill         md-                  W 22 mx
resend           re_                  W 24 m
twilio           SK                   H 32 mx
telnyx           KEY0                 W 40 m
slack            xox[abceoprs]-       W 16 m
slack            xoxe.xox[bp]-        W 30
slack            xapp-                W 24 m
slack            xwfp-                W 24 m
slack            xoxd-                P 40
facebook         EAA                  A 90 m
instagram        IGQ                  W 90 m
twitter          AAAAAAAAAAAAAAAAAAAAA  P 60
vk               vk1.a.               W 60
discord-bot      mfa.                 W 60
notion           ntn_                 A 40
notion           secret_              A 43 mx
linear           lin_api_             A 36
linear           lin_oauth_           A 36
intercom         dG9rO                B 50 m
klaviyo          pk_                  H 34 x
apify            apify_api_           A 30
bannerbear       bb_[pm][ra]_         A 28 m
ionic            ion_                 A 40 m
orbit            obu_                 A 34 m
pinterest        pin[ar]_             A 40 m
voiceflow        VF.                  D 36 m
zoho             1000.                D 65 m
salesforce       5Aep861              D 50
saladcloud       salad_cloud_         W 30 m
chieftools       ctp_                 A 36 m
gc-notify        gcntfy-              W 60 m
sindri           sindri_              W 20 m
workato          wrk[a-z][a-z]-       W 40 m
workato          wrk[a-z][a-z][a-z]-  W 40 m
pubnub           sec-c-               B 36
locationiq       pk.                  H 32 x
airtable         pat                  Q 78
figma            fig[dou]_            W 36
figma            figo[rh]_            W 36
typeform         tfp_                 D 40
contentful       CFPAT-               W 40
hubspot          pat-na[0-9]-         G 36
hubspot          pat-eu[0-9]-         G 36
shopify          shp[acps][ats]_      H 32
shopify          shpua_               H 32
shopify          shptka_              H 30
frameio          fio-u-               W 60
dropbox          sl.                  D 100
clickup          pk_                  Y 36
mapbox           sk.eyJ               D 60
mapbox           pk.eyJ               D 60
adobe            p8e[-_]              A 30
adafruit         aio_                 A 28 mx
authress         authress_            C 50
definednet       dnkey-               W 70
intra42          s-s4t2[ua][df]-      H 60
settlemint       sm_[aps]at_          A 16
clickhouse       4b1d                 A 38 mx
matrix           syt_                 W 30 m
kong             kpat_                A 36
ory              ory_[a-z][a-z]_      W 30
vantage          vntg_tkn_            W 30
thunderstore     tss_                 A 30 m
rootly           rootly_              H 60
zuplo            zpka_                A 30
samsara          samsara_api_         W 20
persona          persona_production_  G 30
persona          persona_sandbox_     G 30
supermemory      sm_                  W 40 m
phoenix          SFMyNTY.             D 40
unnamed          sk_                  W 24 m
unnamed          secret_              A 24 m
unnamed          token_               A 24 m
unnamed          apikey_              A 20 m
unnamed          api_key_             A 20 m
unnamed          api_                 A 28 m
unnamed          live_                A 24 m
nightfall        NF-                  A 32 mx
"""

# Tokens known by a mark in their middle or at their end: family, the mark (literal), what must stand before it (a regular
# expression), alphabet and least length of what follows; `x` as above. Azure's marks end its keys: a checksum follows.
# What stands before ends in a class with a count, `[0-9]{8,11}`, because an engine looks for that much of it too.
INFIX = """
telegram         :         (?:bot)?[0-9]{8,11}                          W 30
asana            :         [12](?:/[0-9]{13,18})?/[0-9]{14,18}          H 32
discord-bot      .         [A-Za-z0-9_-]{23,28}[.][A-Za-z0-9_-]{6}      W 27
azure            Q~        [A-Za-z0-9_~.]{3}[0-9]{1}                    D 31
azure            JQQJ9     [A-Za-z0-9]{52}                              A 20
azure            AzSe      [A-Za-z0-9]{42}                              A 6 x
azure            AzFu      [A-Za-z0-9_-]{44}                            W 5
azure            AzCa      [A-Za-z0-9]{33}                              A 6
azure            APIM      (?<![+/])[A-Za-z0-9+/]{76}                   B 8 x
azure            ACDb      (?<![+/])[A-Za-z0-9+/]{76}                   B 8 x
azure            AIoT      (?<![+/])[A-Za-z0-9+/]{33}                   B 7 x
azure            +ABa      (?<![+/])[A-Za-z0-9+/]{76}                   B 8 x
azure            +AMC      (?<![+/])[A-Za-z0-9+/]{76}                   B 8 x
azure            +ASt      (?<![+/])[A-Za-z0-9+/]{76}                   B 8 x
azure            +ASb      (?<![+/])[A-Za-z0-9+/]{33}                   B 7 x
azure            +AEh      (?<![+/])[A-Za-z0-9+/]{33}                   B 7 x
azure            +ARm      (?<![+/])[A-Za-z0-9+/]{33}                   B 7 x
mailgun          -         [0-9a-f]{32}                                 G 17 x
mailchimp        -us       [0-9a-f]{32}                                 N 1
maxmind          _mmk      [A-Za-z0-9]{6}_[A-Za-z0-9]{29}               N 0
terraform        .atlasv1. [A-Za-z0-9]{14}                              W 50
facebook         |         (?:OC\\|)?[0-9]{14,18}                        W 26
firebase         :APA91b   [A-Za-z0-9_-]{11}                            W 100
salesforce       !A        00D[A-Za-z0-9]{12,15}                        D 60
stripe           _secret_  (?:pi|seti|cs)_[A-Za-z0-9]{14,40}            A 20
newrelic         NRAL      [0-9a-f]{36}                                 N 0
ngrok            _         [12][A-Za-z0-9]{26}                          A 21
ably             :         [A-Za-z0-9_-]{6}[.][A-Za-z0-9_-]{6}          W 43
fal              :         [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}  H 32
convex           |         (?:prod|preview|dev):[a-z0-9-]{5,40}         P 40
authress         .acc      (?:sc|ext|scauth)_[a-z0-9]{5,30}[.][a-z0-9]{4,6}  C 40
"""
