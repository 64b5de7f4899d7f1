"""Orders in a model's text that address the reader, and leave given for what a user forbids: taken out. A record says what
was; nothing in it tells one to act, and no user's rule ends by a model's word.

What users asked stands in quotes, put there from the ledger, and is not looked at here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from clew.handoff.support import Source
from clew.ledger import topics

_ORDER = re.compile(
    r"""
    \b(?:ignore|disregard|forget|override|bypass)\s+(?:\w+\s+){0,3}?(?:previous|prior|above|earlier|preceding|all|any|your|these|those|system|safety|users?)\b(?:['’]s?)?
        (?:\s+\w+){0,3}?\s*(?:instructions?|prompts?|rules?|messages?|directions?|guidelines?|guardrails?|orders?|context|constraints?|preferences?|wishes|requests?)\b
  | \b(?:ignore|disregard|forget)\s+(?:everything|anything|all)\s+(?:above|before|you|that|said)
  | ^\W*(?:human|system|developer)\s*:\s+\S
  | \byou\s+are\s+now\s+(?:a|an|in|free|the|no\s+longer)\b | \bfrom\s+now\s+on,?\s+you\b
  | ^\W*(?:\d+\.\s*)?you\s+(?:must|should|need\s+to|have\s+to|will)\s+(?:now|immediately|instead|only|always|never)\b
  | \b(?:new|updated|real|hidden)\s+(?:system\s+)?(?:instructions?|prompt|orders?)\s*:
  | \b(?:do\s+not|don't|never)\s+(?:tell|inform|mention\s+(?:this|it)\s+to|reveal\s+(?:this|it)\s+to|alert|warn)\s+(?:this\s+to\s+)?the\s+user\b
  | \bwithout\s+(?:telling|informing|notifying)\s+the\s+user\b
  | \b(?:reveal|print|repeat|output)\s+(?:your|the)\s+(?:system\s+prompt|hidden\s+instructions?)\b
  | \b(?:ignorier\w*|vergiss|missachte\w*)\s+(?:\w+\s+){0,3}?(?:anweisung|anleitung|regel|vorgabe|instruktion)\w*
  | \b(?:ignor\w+|oublie\w*)\s+(?:\w+\s+){0,4}?(?:instructions?|consignes?|règles?)\b
  | \b(?:ignor\w+|olvida\w*)\s+(?:\w+\s+){0,4}?(?:instrucciones|reglas|órdenes)\b
  | \b(?:ignor\w+|esqueça\w*)\s+(?:\w+\s+){0,4}?(?:instruções|regras|ordens)\b
  | \b(?:ignor\w+|dimentica\w*)\s+(?:\w+\s+){0,4}?(?:istruzioni|regole)\b
  | игнорируй\w*\s+(?:\w+\s+){0,4}?(?:инструкци|указани|правил)\w*
  | (?:忽略|无视|忘记|無視)[^。\n]{0,12}(?:指令|指示|说明|规则|命令)
  | (?:指示|命令|ルール)[^。\n]{0,6}(?:無視|忘れ)
    """,
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)


# Words that speak to whoever reads on; a record that quotes them has a source that holds them.
_ADDRESSED = re.compile(
    r"""
    ^\W*(?:\d+\.\s*)?(?:(?:important|urgent|attention|note|notice|message|reminder)\s*(?:to|for)?\s*(?:the|any)?\s*)?
        (?:next\s+|ai\s+|coding\s+)?(?:agent|assistant|model|llm|reader|claude|chatgpt|codex)\s*[:,]\s+\S
  | ^\W*(?:\d+\.\s*)?(?:important|urgent|attention|critical)\s*[:!]\W*(?:please\s+)?(?:you\b|delete|remove|drop|push|run|execute|send|upload|skip
        |ignore|proceed|continue|deploy|merge|force|reset|overwrite|install|download|disable|publish|do\b|use\b)
  | ^\W*(?:\d+\.\s*)?(?:please\s+|now,?\s+(?:please\s+)?)(?:continue|proceed|do|go|run|execute|delete|remove|drop|push|send|upload|deploy|merge
        |install|download|disable|publish|commit|start|begin|finish|reply|respond|answer)\b
  | \bbefore\s+(?:you\s+)?(?:reply|respond|answer)(?:ing)?\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_QUOTE = re.compile(r"[\"“«「]([^\"”»」\n]+)[\"”»」]?")
_MARKS = re.compile(r"^\W*(?:\d+[.)]\s+)?(?:(?:the\s+)?user(?:\s+\w+){0,2}:\s+)?", re.IGNORECASE)


def without_orders(text: str, source: Source) -> tuple[str, list[str]]:
    """The text without the lines that hold an order to the reader, and those lines. What only reads like one stays where
    a source says it in the same words.
    """
    kept: list[str] = []
    gone: list[str] = []
    for line in text.split("\n"):
        plain = _plain(line)
        told = _ADDRESSED.search(plain) is not None and not _said(line, source)
        (gone if told or _ORDER.search(plain) else kept).append(line)
    return "\n".join(kept).strip() if gone else text, gone


def _said(line: str, source: Source) -> bool:
    """Whether a source says the same words: those in quotes, where there are any."""
    words = _QUOTE.findall(line) or [_MARKS.sub("", line)]
    return source.said(*(x for w in words for x in w.split("…")), least=1)


def _plain(line: str) -> str:
    """The line as it reads: without letters in other shapes, and without characters that nobody sees."""
    if line.isascii():
        return line
    return "".join(c for c in unicodedata.normalize("NFKC", line) if unicodedata.category(c) != "Cf")


_LEAVE = re.compile(
    r"\b(?:may|can|could)\b(?!\s*(?:not|never|only|no\s+longer)\b|n['’]t)|\b(?:allowed|permitted|allows?|permits?|permission|okay|ok|fine|free|lifted|waived"
    r"|approved|agreed|authori[sz]ed|no\s+longer\s+(?:applies|holds|forbidden|binding|needed|in\s+force))\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:not|never|n['’]t|without|unless|until|forbids?|forbidden|refused|denied|no\s+(?:permission|leave))\b|n['’]t\b",
    re.IGNORECASE,
)


def without_leave(text: str, rules: Iterable[str], source: Source, *, binding: bool = False) -> tuple[str, list[str]]:
    """The text without the lines that allow what one of the `rules` forbids, and those lines; where lines are `binding`
    themselves, also those that demand it. What a source says in the same words stays.
    """
    forbidden = [r for r in rules if topics.forbids(r) and (binding or topics.objects(r))]
    if not forbidden:
        return text, []
    kept: list[str] = []
    gone: list[str] = []
    for line in text.split("\n"):
        against = _gives_leave(line, forbidden) or (binding and _demands(line, forbidden))
        (gone if against and not _said(line, source) else kept).append(line)
    return "\n".join(kept).strip() if gone else text, gone


def _demands(line: str, forbidden: Iterable[str]) -> bool:
    """Whether a line says to do all of what a rule forbids."""
    if _DENIED.search(line) is not None:
        return False
    said, acts = topics.words(line), topics.acts(line)
    return any(topics.acts(rule) & acts and topics.objects(rule) <= said for rule in forbidden)


def _gives_leave(line: str, forbidden: Iterable[str]) -> bool:
    if _LEAVE.search(line) is None or _DENIED.search(line) is not None:
        return False
    said = topics.words(line)
    for rule in forbidden:
        of = topics.objects(rule)
        if topics.acts(rule) & topics.acts(line) and 2 * len(of & said) >= len(of):
            return True
    return False
