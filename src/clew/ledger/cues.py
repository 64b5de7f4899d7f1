"""The words by which a sentence binds later work, in the languages users write in; and those by which it does not."""

from __future__ import annotations

import re

from clew.ledger import mood, orders

# Orders that hold beyond the moment. "Don't" counts where it is an order, not where somebody doesn't know or have.
_EN = r"""
    \b(?:must(?:n['’]?t|\ not)?|never|always|from\ now\ on|going\ forward|at\ all\ times|under\ no\ circumstances|no\ matter\ what)\b
  | (?:^|[,;:.(—–-]\s*|\b(?:and|but|so|then|please|also|ok|okay|just|or|you|to)\s+)(?:do\ not|don['’]?t)\s+(?!(?:you|we|i|they)\b)(?!know\b|think\b|understand\b|see\b|care\b|mind\b|get\ (?:it|why|this)\b|have\b|like\b|want\b|need\b)\w
  | (?<!\bto\ )\b(?:make|be)\ sure\b | \b(?:want|need|have)\ to\ (?:make|be)\ sure\b | (?<!\bto\ )\bensure\b | \bbe\ careful\b | \bremember\ (?:to|that)\b | (?<!\bto\ )\bavoid\b
  | \b(?:no|not)\ (?:more|less|fewer|later|longer|earlier)\ than\b | \bat\ (?:most|least)\s+\S*\d | \b(?:max(?:imum)?(?:\ of)?|limit(?:ed)?\ to|cap(?:ped)?\ at)\ [$€£]?\d
  | \b(?:keep|stay|be|spend|costs?|fits?|finish|done)\b.{0,40}?\b(?:under|below|within|up\ to)\s+[$€£]?\d | ^(?:under|below|within)\s+[$€£]?\d
  | \b(?:budget|deadline|limit)\b.{0,30}?(?:\bis\b|\bof\b|:|=).{0,20}?\S*\d | \bdeadline\b.{0,30}?\b(?:is|on|by)\b
  | \b(?:looking|aim(?:ing)?)\s+for\b.{0,20}?\d
  | \bwithout\s+(?:\w+ly\s+)?(?:chang|modify|touch|break|add|remov|using|delet|alter|losing|introduc|installing|rewrit|affect|committing|pushing|asking)\w*
  | \bonly\s+(?:use|do|change|modify|touch|edit|run|commit|add|fix|work|make|keep|show|return|include|write|after|when|if|once|with|in|the)\b | \b(?:use|do|run|change|keep|need|want|with)\s+(?:\S+\s+){0,4}only\b
  | \b(?:should|must|may|can)\s+(?:not|never|always|only)\b | \bshouldn['’]?t\b(?!.*\?)
  | \b(?:is|are)\s+(?:not\ allowed|forbidden|prohibited|off[- ]limits|mandatory|required)\b | \bnot\s+allowed\s+to\b
  | \byou\s+(?:cannot|can\ not|can['’]?t)\s+(?!see\b|find\b|open\b|reproduce\b|figure\b|tell\b|just\b|get\b|be\ sure)\w
  | \b(?:i|we)\s+(?:really\s+)?(?:do\ not|don['’]?t)\s+(?:really\s+)?(?:think\s+(?:i|we)\s+)?want\b
  | \bwhere(?:ver)?\s+(?:you\s+can|possible)\b | \bif\s+(?:at\s+all\s+)?possible\b
  | \b(?:stick|keep)\s+to\b | \bleave\s+.{2,40}\s+(?:alone|as\ (?:it\ )?is|untouched|unchanged)\b | \bkeep\s+.{2,40}\s+(?:as\ (?:it\ )?is|unchanged|intact|untouched)\b
  | \b(?!(?:i|we|you|and|to|don['’]?t|just|then|also|will|would|still|really|ok|so|but|only)\b)[\w`'"”)-]+\s+(?:(?:will|would|still|also|really)\s+)*(?:needs?|has|have|got)\s+to\s+\w | \b(?:i|we)\s+need\s+(?:it|them|this|that|these|those|the\s+[\w-]+|all|every\w*)\s+to\s+\w
  | \bexactly\s+(?:as|one|two|three|\d) | \bspecifically\s+to\b | \bas\s+(?:much|many|little|few|short|simple|small|close|straightforward|fast|soon)\s+(?:[\w-]+\s+){0,6}as\s+possible\b
  | ^(?:\w+\s+){1,4}up\s+to\s+\d
  | ^(?:done\ when|acceptance\ criteri(?:a|on)|definition\ of\ done|success\ criteria)\b
  | ^(?:write|save|store|log|record|document|keep)\s+(?:[\w'’-]+\s+){1,6}?(?:in|into|to|under)\s+(?:…|\S*[/.]\w)
  | \bwill\s+(?:be\s+(?:lost|rejected|ignored|discarded|reverted)|fail)\b
  | ^(?:if|when(?:ever)?|where|before|after|for\s+(?:any|all|every|each)|in\s+case)\b[^?]{4,200}?,\s*(?:then\s+)?(?:please\s+|always\s+|just\s+)*(?:inspect|look|read|keep|capture|file|mark|leave|log|write|mention|note|list|fall\ back|use|ask|run|call|include|report|return|stop|check|tell|skip|wait|follow|do\s+not|don['’]?t|never|always)\b
  | ^(?:(?:and|but|also|please|ok|okay)[\s,]+)*no\s+(?!problem|worries|idea|matter|need|one\b|doubt|luck|clue|way\b|it\b|that\b|this\b|the\b|i\b|we\b|you\b|he\b|don|not|more\ than)(?:more\s+)?[\w-]+(?:\s+[\w./-]+){0,4}\s*[!.]*$
  | \b(?:ignore|exclude|leave\s+out|omit)\s+(?:the|all|any|everything|tests?|existing|that|this|my|those|these)\b | \bfocus(?:ing)?\s+(?:only|solely|exclusively)\s+on\b
"""
# What writers of rules put in capitals.
_CAPITALS = re.compile(
    r"\b(?:SHOULD|MUST|SHALL|REQUIRED|WILL HAVE TO|WILL FAIL|ONLY|NEVER|ALWAYS)\b|^(?:MODIFY|ALLOWED|FORBIDDEN|REQUIREMENTS?|CONSTRAINTS?|RULES?|LIMITS?): ?\S"
)
_OUGHT = re.compile(
    r"\bshould\s+(?!be\s+(?:fine|ok|okay|good|enough|easy|possible|able|ready|done|there|all|straight)\b)(?:be|have|use|include|contain|return|stay|remain|look|match|follow"
    r"|support|go|ask|say|show|live|also|still|then|now|just|read|write|take|get|run|reuse|keep|move|pass|call|handle|create|delete|remove|apply|allow|mention|start|end)\b",
    re.IGNORECASE,
)
_PASTE = 1_500  # characters from which a message is more likely a document than an order: "should" then says nothing
_PREFERENCE = r"""
    \bprefer(?:e|s|red|ably|ence)?\b | \b(?:i|we)['’]?d\s+(?:rather|like\s+(?:it|the|you)\s+to)\b | \bi\s+(?:really\s+)?(?:like|want|would\s+like)\s+(?:it|the\s+\w+|all|everything|my|our)\s+(?:\w+\s+){0,3}(?:to\b|in\b|as\b|with\b)
  | \b(?:use|using|pick|choose|take)\s+[^.?!]{1,50}?(?:\binstead\b|\brather\s+than\b|,?\s+not\s+|\bover\b) | \b(?:instead\s+of|rather\s+than)\b.{1,40}\b(?:use|do|make|go)\b
  | ^(?:please\s+|and\s+|also\s+|actually,?\s+|no,?\s+|ok(?:ay)?,?\s+)*(?:make\ it|change\ it\ to|switch\ to|go\ for|use)\s+(?!cases?\b|this\b|it\b)\S+
  | \bfavou?r\b.{1,40}\bover\b | \bkeep\s+it\s+(?:simple|short|minimal|small|brief|concise|clean)\b | \bas\s+(?:few|short|simple|small|little)\s+as\s+possible\b
"""
_OTHERS = r"""
    \b(?:niemals|nie\s+(?:\w+)|immer|nur\s+(?:die|das|den|mit|bei|in|wenn|noch)|auf\s+keinen\s+fall|unbedingt|keinesfalls|darf(?:st)?\s+(?:\w+\s+){0,4}nicht|d[üu]rfen\s+(?:\w+\s+){0,4}nicht|(?:muss|müssen|musst|sollst|sollte[nst]*)\b|bitte\s+(?:keine?n?|nicht|nur|immer)|keine?n?\s+\w+\s+(?:verwenden|benutzen|ändern|anfassen|hinzufügen|löschen)|ab\s+jetzt|(?:budget|frist|limit|grenze)\s+(?:ist|beträgt|liegt)|höchstens|mindestens|maximal|spätestens|stell\w*\s+sicher|achte\s+darauf|(?:benutze?|verwende|nimm)\s+.{1,40}\bstatt\b|ohne\s+.{2,40}\szu\s+\w+|bevorzuge)\b
  | \b(?:jamais|toujours|uniquement|seulement|il\s+faut|il\s+ne\s+faut|ne\s+\w+\s+pas|n['’]\w+\s+pas|surtout\s+pas|veille[zr]?\s+à|assure[zr]?-(?:toi|vous)|évite[zr]?|doi(?:t|s|vent)\b|devez|au\s+(?:plus|maximum|moins)|désormais|sans\s+(?:modifier|toucher|changer|casser)|utilise[zr]?\s+.{1,40}(?:plutôt|au\s+lieu)|préfère|budget\s+(?:est|de))\b
  | \b(?:nunca|siempre|solamente|sólo\s+\w+|solo\s+(?:usa|cambia|modifica|los|las|el|la)|no\s+(?:uses?|toques?|cambies?|modifiques?|borres?|hagas?|añadas?|debes?|puedes?|se\s+debe)|debe[sn]?\b|hay\s+que|tienes\s+que|asegúrate|evita|como\s+(?:máximo|mínimo)|a\s+partir\s+de\s+ahora|sin\s+(?:cambiar|modificar|tocar|romper)|en\s+(?:vez|lugar)\s+de|prefiero|presupuesto\s+(?:es|de))\b
  | 不要|不能|不得|不可|禁止|必须|必須|务必|一定要|总是|始终|只能|只用|只使用|仅限|切勿|请勿|别(?:再|用|动|改|碰|删)|不超过|最多|至少|预算|截止|避免|确保|从现在开始|改用|而不是|优先使用
  | しないで|するな|禁止|必ず|絶対に|常に|だけ(?:を|で|に|使)|のみ|なければ(?:ならない|なりません)|べき(?:だ|です|ではない)|ないこと|てください.*(?:必|のみ)|使わないで|避けて|以内|まで(?:に|です)|予算|期限|代わりに|の方がいい
"""
# What a user wants of the result (where, by what means, in which order, how much), said without a word of command.
_WANTED = re.compile(
    r"\bi(?:['’]d|\s+would)?\s+expect\b(?!\s+(?:so|that\s+it\s+(?:was|is))\b)|\b(?:i|we)\s+(?:just|only)\s+(?:want|need)\b(?!\s+to\s+(?:know|check|ask|see|understand|confirm|clarify)\b)"
    r"|^(?:i|we)\s+want\s+(?:an?|the|it|all|some|every\w*|our|my|no)\b|\b(?:we|you|it)\s+(?:do\s+not|don['’]?t)\s+need\s+(?:to\s+(?!know|worry)|the\b|any\b|an?\b)"
    r"|\b(?:via|on|off|from|in|into|make|create|use)\s+(?:an?|its|their|one)\s+(?:fresh|separate|single|dedicated|own)\s+\w+|\bmake\s+a\s+new\s+branch\b|\btests?\s+first\b|\bas\s+you\s+go\b"
    r"|\bput\s+(?:it|this|that|them|these|those|(?:the|all|every)\s+[\w-]+)\s+(?:all\s+)?(?:in|into|under|on|next\s+to|behind)\b"
    r"|^(?:create|write|build|implement|generate|render|draw|store|save|do\s+(?:the|this|that|it))\b.{3,120}\b(?:using|via)\s+\S+"
    r"|^(?:report|return|show|give|list|output|print|include|write|answer|respond|send)\s+(?:[\w-]+\s+){0,3}?only\b|^(?:return|report|list)\b.{0,60}\bfirst\b|^(?:[\w-]+\s+){1,3}only\b(?:\W*$|,)"
    r"|\bwe\s+should\s+(?!(?:be\s+(?:good|fine|ok|okay|able|ready|done)|have)\b)\w|\b(?:it\s+would|it['’]d)\s+(?:also\s+)?be\s+(?:good|nice|great|better|helpful|useful|cool|best)\s+(?:to|if)\b"
    r"|\bnot\s+\S+\s+any\s?more\b|\b(?:is|are)\s+now\s+called\b|\bno\s+[\w-]+\s+(?:is|are)\s+(?:needed|required|necessary|allowed)\b"
    r"|\b(?:run|spawn|commit|do|check|ask|update|test|verify|push|review|report|stop|make|write|show)\b.{0,60}\b(?:after|before|for|with)\s+(?:each|every)\b"
    r"|^only\s+[a-z]+\s+(?:if|when|after|with|in|on|to|the|for|an?)\b|\bbut\s+(?:please\s+)?(?:let|keep|leave|wait|first|make)\b|\bfollow\s+(?:the|our|my|this|these|that)\s+(?:same|existing|(?:[\w-]+\s+)?(?:patterns?|conventions?|style|guide\w*|rules?|plan|process|spec|workflow))\b|\bas\s+(?:defined|described|specified|documented)\s+in\b"
    r"|^make\s+(?:it|this|that|them|these|those|every\w*|all|the\s+[\w-]+(?:\s+[\w-]+)?)\s+(?:\w+ly\s+)?(?:\w+(?:able|ible|ive|ous|er)|optional|consistent|idempotent|simple|small|short|fast|public|private|generic|general)\b"
    r"|\b\d+\s+[\w-]+(?:\s+[\w-]+)?\s+(?:per|each|for\s+(?:each|every))\b"
    r"|^(?:give|show|tell|ask|propose|suggest|discuss|plan|explain|present|list|send)\b.{0,80}\bfirst\W*$"
    r"|\bplease\s+(?:keep|leave|stick|make\s+(?:the|it|them|all|these|those|this|that)\b.{0,60}?\b(?:enough|more|less|\w+er)\b)"
    r"|\b(?:i|we)\s+(?:think|feel|believe|guess)\b.{0,80}?\b(?:should|ought\s+to|needs?\s+to)\s+(?:be|use|have|live|stay|go|return|only|not)\b",
    re.IGNORECASE | re.DOTALL,
)
_EXCLAIMS = re.compile(
    r"^(?:(?:ok(?:ay)?|yes|yeah|yep|no|nope|well|h+m+|so|and|also|but|then|alright|right|(?:my\s+)?dude|man|bro|omf?g|wtf|ugh|arg+h+|oh|ah|uh|great|good|nice|cool|perfect|thanks|actually|fucking\s+hell)\b[\s,.!:;—–-]*)+",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\([^()]*\)")
_OATHS = re.compile(r"\b(?:fuck\w*|damn(?:ed)?|bloody|goddamn)\s+", re.IGNORECASE)
_ORDER = re.compile(_EN, re.VERBOSE | re.IGNORECASE)
_WISH = re.compile(_PREFERENCE, re.VERBOSE | re.IGNORECASE)
_FOREIGN = re.compile(_OTHERS, re.VERBOSE | re.IGNORECASE)

_SUPPOSED = re.compile(
    r"^\W*(?:what\s+if|suppose|supposing|imagine|say\s+(?:we|you|i)\b|let['’]?s\s+say|assume\s+(?:that\s+)?(?:we|you|i|the)|hypothetical|for\s+example|for\s+instance|e\.g\."
    r"|(?:so\s+)?(?:if|when)\s+(?:i|we|you|it|they|he|she)\s+(?:had|were|would|could)|was\s+wäre|angenommen|nehmen\s+wir\s+an|et\s+si|imagine[zr]?|supposons|qué\s+pasaría|y\s+si|supongamos"
    r"|wondering|i\s+wonder|假设|如果.*会怎|もし)|\b(?:would\s+(?:have|not\s+be)|might|could\s+have\s+(?:been|\w+(?:ed|en))|used\s+to)\b",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"\b(?:he|she|they|it|the\s+\w+|this|that|which|who|users?|people|someone|somebody|claude|docs?|readme|policy)\s+(?:\w+\s+)?(?:says?|said|told|wrote|claims?|states?|reads?|mentions?)\b"
    r"|\b(?:it|this|that|which|he|she|they|there|these|those|(?:the|a|an|my|our|your|its|their)\s+[\w-]+(?:\s+[\w-]+)?)\s+(?:always|never|only)\s+\w+(?:s|ed)\b"
    r"|\b(?:i|we)\s+(?:never|always|only)\s+\w+|\b(?:got\s+a\s+report|popped\s+up|happened|noticed\s+that)\b",
    re.IGNORECASE,
)
_TOLD_AS_ORDER = re.compile(
    r"\b(?:must|do not|don['’]?t|make sure|should)\b|\A\W*(?:please\s+)?(?:never|always)\s+[a-z]+\s", re.IGNORECASE
)
_ASKED = re.compile(r"[?？][ \"')*_]*$")
_PUT_FORWARD = re.compile(
    r"^(?:i|we)\s+(?:think|feel|believe|guess)\b|\bfirst\W*$", re.IGNORECASE
)  # in a question only out of politeness
_POLITE = re.compile(
    r"^\W*(?:is\s+there\s+(?:a|any)\s+way\s+to\b|(?:can|could|would|will)\s+(?:you|we)\b)|\bplease\b", re.IGNORECASE
)
_STRONG_IN_QUESTION = re.compile(
    r"\b(?:make\s+sure|never|always|without\s+\w+ing|only|don['’]?t|do\s+not|must|ensure|avoid|instead\s+of|rather\s+than|but\s+not)\b",
    re.IGNORECASE,
)


_DOCUMENT = 2_500  # characters from which it is a document for sure: only what leads with its order binds
_LEAD = 40  # characters within which a sentence leads with it


def binding(said: str, length: int = 0) -> str:
    """Says "constraint" or "preference" where a sentence binds later work, else empty. `said` has its quotations blanked out;
    `length` is that of the message it stands in.
    """
    if _SUPPOSED.search(_ASIDE.sub("", said)) is not None:
        return ""
    if length >= _DOCUMENT:
        cue = _CAPITALS.search(said) or _ORDER.search(said[: 2 * _LEAD]) or _FOREIGN.search(said)
        if cue is None or (cue.start() > _LEAD and cue.re is not _CAPITALS):
            return ""
    plain = _EXCLAIMS.sub("", _OATHS.sub("", said))
    if mood.reported(plain):
        return ""
    return _commanded(said, plain, length) or _wanted(said, plain, length) or _built(plain, length)


def _commanded(said: str, plain: str, length: int) -> str:
    """By a word of command or of preference."""
    asked = _ASKED.search(said) is not None
    if asked and (_POLITE.search(said) is None or _STRONG_IN_QUESTION.search(said) is None):
        return ""  # a request put as a question binds by its strong words; a mere question doesn't
    if (
        _ORDER.search(said)
        or _CAPITALS.search(said)
        or _FOREIGN.search(said)
        or (length < _PASTE and _OUGHT.search(said))
    ):
        told = not asked and _TOLD.search(said) is not None and _TOLD_AS_ORDER.search(said) is None
        return "" if told else "constraint"
    return "preference" if _WISH.search(said) or _WISH.search(plain) else ""


def _wanted(said: str, plain: str, length: int) -> str:
    """By what it says of the result: where, by what means, in which order, how much."""
    if length >= _PASTE or _WANTED.search(plain) is None or _TOLD.search(said) is not None:
        return ""
    return "" if _ASKED.search(said) is not None and _PUT_FORWARD.search(plain) is None else "preference"


def _built(plain: str, length: int) -> str:
    """By its build alone."""
    if length >= _PASTE or _ASKED.search(plain) is not None or mood.queries(plain):
        return ""
    if mood.rules(plain) or orders.restricts(plain):
        return "constraint"
    return "preference" if mood.wishes(plain) else ""
