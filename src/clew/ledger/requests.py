"""Requests: what users asked, verbatim, and whether it was answered, is open, or was withdrawn."""

from __future__ import annotations

import re
from dataclasses import replace

from clew.ledger import withdrawal
from clew.ledger.facts import Request
from clew.ledger.foreign import recognise
from clew.ledger.tools import one_line
from clew.transcript import Message, Opaque, Text

_REMINDER = re.compile(r"<(system-reminder|command-message|local-command-caveat)>.*?</\1>\s*", re.DOTALL)
# What clients put among a user's words, or send in a user's name.
_ENVELOPE = re.compile(
    r"<(environment_context|user_instructions|recommended_plugins|permissions|permissions_instructions|turn_aborted|INSTRUCTIONS"
    r"|task-notification|subagent_notification|local-command-stdout|local-command-stderr|bash-input|bash-stdout|bash-stderr|user-prompt-submit-hook"
    r"|ide_selection|ide_opened_file|ide_diagnostics|skill|system_note|session-context|env|open_and_recently_viewed_files"
    r"|user_info|rules|project_layout|additional_data|attached_files|collaboration_mode|memory-context)\b[^>]*>"
    r".*?</\1>\s*",
    re.DOTALL,
)
_AGENTS_FILE = re.compile(r"\A\s*# (?:AGENTS|CLAUDE|GEMINI)\.md instructions\b.*", re.DOTALL)
_COMMAND_NAME = re.compile(r"<command-name>\s*(.*?)\s*</command-name>\s*", re.DOTALL)
_COMMAND_ARGS = re.compile(r"<command-args>(.*?)</command-args>\s*", re.DOTALL)
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\]]*\]\s*")
_PICTURE_NOTE = re.compile(r"\[Image: (?:source|original)[^\]]*\]\s*|<image[^>]*>\s*|</image>\s*")
# Sent by a harness when a reply was not in its form: the work goes on, nobody asked for anything new.
_NUDGE = re.compile(
    r"\A\s*(?:Please always provide EXACTLY ONE action|Your (?:last|previous) (?:response|output|message) (?:did not|was not)"
    r"|No tool calls? (?:was|were) found|Format error|\[System: |Continue from where you left off|Stop hook feedback"
    r"|You (?:did not|have not) (?:use|call)\w* a tool|Base directory for this skill:|Caveat: The messages below"
    r"|Your response was (?:cut off|truncated)|<system-warning|Tool loaded\.?\s*\Z|Unknown (?:skill|slash command):)",
    re.IGNORECASE,
)
_CLIENT_COMMAND = re.compile(
    r"/?(?:clear|exit|quit|model|models|mode|login|logout|resume|compact|compress|config|cost|context|status|help|mcp|memory"
    r"|permissions|hooks|ide|theme|them?|the|vim|doctor|export|fast|effort|usage|rewind|plugin|plugins|agents|add-dir"
    r"|terminal-setup|statusline|upgrade|think|thinking|queue|session|new|reload|rename|color|remote-control|tasks|bashes)?",
)
_GO_ON = re.compile(
    r"\A\W*(?:(?:please |ok(?:ay)?,? )*(?:continue|go on|keep going|carry on|proceed|resume|weiter|mach weiter|continúa|sigue"
    r"|continue[zr]?|继续|続けて))(?: please)?\W*\Z",
    re.IGNORECASE,
)
# A reply that asks for what it needs to go on; an offer to do more is no such thing.
_ASKS_BACK = re.compile(
    r"please (?:provide|confirm|share|specify|clarify|let me know (?:your|the|which|if you would like me to proceed)|tell me|run|reply"
    r"|log ?in|paste|send|approve|choose|select)"
    r"|could you (?:please )?(?:provide|confirm|share|specify|clarify|tell|give|let me know (?:your|the|which))"
    r"|(?:may|can|could) i (?:please )?(?:have|get) (?:your|the)|do you confirm|would you like (?:me )?to proceed"
    r"|(?:shall|should) i proceed\b|i(?:'ll| will)? need (?:your|the|you to)\b|\(yes/no\)|then reply|before (?:i|we) proceed"
    r"|do you (?:have|know) (?:your|the)\b|is (?:that|this) (?:correct|right|okay|ok)\?"
    r"|bitte (?:bestätig|nenn|gib)|soll ich fortfahren|veuillez (?:confirmer|fournir)|por favor,? (?:confirm|proporcion)"
    r"|请(?:提供|确认)|ください",
    re.IGNORECASE,
)
_UNFINISHED = re.compile(r"[:：]\s*\Z")
# What a client writes in the agent's name where no reply came, and a promise with nothing behind it.
_NO_REPLY = re.compile(
    r"\A\s*(?:API Error\b|\[?Request (?:timed out|interrupted|was aborted)|You['’]ve (?:hit|reached) your (?:\w+ )?limit|Claude (?:AI )?usage limit reached|Error: (?:429|5\d\d)\b"
    r"|(?:(?:ok(?:ay)?|sure(?: thing)?|got it|alright|yes|absolutely|of course)[,.!]*\s+)*(?:on it|will do|i['’]?ll (?!be\b|let\b|wait\b|remember\b|keep\b|make sure\b|note\b|not\b)[^.!?\n]{1,120})[.!…]*\s*\Z)",
    re.IGNORECASE,
)
# A reply whose last sentence says what the agent is at just now is none yet: it was cut off, or its calls are still to come.
_AT_WORK = re.compile(
    r"(?:\A|[.!\n]\s+)(?:(?:now|next|so|then|first|also|and|ok(?:ay)?)[\s,]+)*(?:let me (?!know\b|summari[sz]e\b|be clear\b|explain\b|recap\b)\w+"
    r"|i['’]m (?:now )?(?:running|re-?running|checking|regenerating|reading|looking (?!forward)|testing|building|inspecting|fixing|searching|editing|verifying)\b)[^.!?\n]*[.…]?\s*\Z",
    re.IGNORECASE,
)
_LAST = 400  # characters of a reply's end
_RECENT = 20  # open requests that a message may name to take them back
_BARE = 12  # characters after a "stop" below which nothing else is asked
_EXPANSION = 300  # characters from which a message right after a slash command is what the client made of it


def spoken_by_user(message: Message) -> str:
    """A user's own words: without the reminders that clients put among them."""
    words = "\n".join(p.text for p in message.parts if isinstance(p, (Text, Opaque)))
    return _REMINDER.sub("", words).strip()


def asked(spoken: str) -> str:
    """The request in a user's words: without what a client wrote in his name. Empty where nothing is left.

    Of a slash command it is the arguments, or the command's name where it has none and the client doesn't serve it.
    """
    text = _INTERRUPTED.sub("", _PICTURE_NOTE.sub("", _ENVELOPE.sub("", spoken))).strip()
    command = _COMMAND_NAME.search(text)
    if command is not None:
        args = _COMMAND_ARGS.search(text)
        if args is not None and args[1].strip():
            return args[1].strip()
        return "" if _CLIENT_COMMAND.fullmatch(command[1].lower()) else command[1]
    if text.startswith("/") and _CLIENT_COMMAND.fullmatch(text.lower()):
        return ""
    if _NUDGE.match(text) or _AGENTS_FILE.match(text) or recognise(text) is not None:
        return ""
    return text


class Requests:
    """The requests of one conversation. A reply closes what is open; going on after it opens that again."""

    def __init__(self) -> None:
        self.facts: list[Request] = []
        self._open: list[int] = []
        self._closed_last: list[int] = []  # by the newest reply, as long as nobody has spoken or acted since
        self._after_command = False
        self._after_skill = False
        self._worked_on = False  # since the newest request
        self.just_closed: tuple[int, ...] = ()  # sources of what the newest reply answered
        self.went_on = False  # the newest message showed that the reply before it was none

    def user(self, position: int, message: Message) -> str:
        """Take a user turn in; returns what is asked in it."""
        self.went_on = False
        spoken = spoken_by_user(message)
        text = asked(spoken)
        expansion = (self._after_command or self._after_skill) and len(text) >= _EXPANSION
        self._after_skill = False
        self._after_command = _COMMAND_NAME.search(spoken) is not None and bool(text)
        if _INTERRUPTED.search(spoken) and not text:
            self._interrupted(position)
            return ""
        if _NUDGE.match(spoken) or (text and _GO_ON.match(text)):
            self._reopen()
            return ""
        self._closed_last = []
        if not text or expansion:
            return text
        if not self._asked(position, text):
            return ""
        self._worked_on = False
        return text

    def heard(self, position: int, text: str) -> None:
        """What a user said in turning a call down: the same as a turn of his, amid the work."""
        self._closed_last = []
        if _GO_ON.match(text) is None:
            self._asked(position, text)

    def _asked(self, position: int, text: str) -> bool:
        """A new request, which may take earlier ones back; says whether it asks for more than that."""
        ended = withdrawal.stop(text)
        if ended is not None:
            verb, rest = ended
            self._withdraw(position, verb)
            if len(rest) < _BARE and not withdrawal.goes_back(verb):
                return False
        else:
            self._take_back(
                [i for i in self._open[-_RECENT:] if withdrawal.names(text, self.facts[i].text)][-1:], position
            )
            if not self._open and withdrawal.thanks(text):
                return False
        self._open.append(len(self.facts))
        self.facts.append(Request(text, position))
        return True

    def skill(self) -> None:
        """A skill was loaded: the long message in the user's name that follows is its text."""
        self._after_skill = True

    def assistant(self, position: int, text: str, *, calls: bool) -> None:
        """Take what the agent said in, and whether it went on working."""
        self.just_closed, self.went_on = (), False
        self._worked_on = True
        self._after_command = False
        if calls:
            self._reopen()
            return
        if (
            not text.strip()
            or _NO_REPLY.match(text)
            or _UNFINISHED.search(text)
            or _AT_WORK.search(text[-_LAST:])
            or _asks_back(text)
        ):
            return
        answer = one_line(next((s for s in text.split("\n") if s.strip()), ""), 200)
        for i in self._open:
            self.facts[i] = replace(self.facts[i], status="answered", answer=answer, answered_at=position)
        if self._open:
            self._closed_last = self._open
            self.just_closed = tuple(self.facts[i].source for i in self._open)
            self._open = []

    def _reopen(self) -> None:
        self.went_on = bool(self._closed_last)
        for i in self._closed_last:
            self.facts[i] = replace(self.facts[i], status="open", answer="", answered_at=-1)
        self._open = self._closed_last + self._open
        self._closed_last = []

    def _interrupted(self, position: int) -> None:
        """A request that was stopped before anything was done on it was taken back."""
        if self._open and not self._worked_on:
            i = self._open.pop()
            self.facts[i] = replace(self.facts[i], status="withdrawn", answered_at=position)

    def _withdraw(self, position: int, verb: str) -> None:
        gone = self._open[-1:] if withdrawal.newest_only(verb) else list(self._open)
        if not gone and withdrawal.goes_back(verb):
            gone = [i for i in (len(self.facts) - 1,) if i >= 0 and self.facts[i].status == "answered"]
        self._take_back(gone, position)

    def _take_back(self, gone: list[int], position: int) -> None:
        if not gone:
            return
        for i in gone:
            self.facts[i] = replace(self.facts[i], status="withdrawn", answered_at=position)
        self._open = [i for i in self._open if i not in gone]


def _asks_back(text: str) -> bool:
    """Whether the reply's end asks the user for something without which the work can't go on."""
    end = text.strip()[-_LAST:]
    return len(text) < 2_500 and _ASKS_BACK.search(end) is not None
