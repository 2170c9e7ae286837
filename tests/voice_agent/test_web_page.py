"""Laws of the page of `voice-agent serve`, in a real browser, against a scripted service that speaks docs/call.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.voice_agent.browser import chromium
from tests.voice_agent.page_standin import (
    DROP,
    PHONE,
    RATE_HZ,
    TOKEN,
    WAIT,
    StandIn,
    Step,
    answered,
    checked,
    event,
    handed_off,
    question,
    ready,
    spoken,
    standing_in,
    state,
    tone,
    typed,
)
from tests.voice_agent.page_visit import FAKE_MICROPHONE, Visit
from tests.voice_agent.reported_calls import NASTY

pytestmark = pytest.mark.browser

LOOKS = [
    pytest.param({"viewport": {"width": 1280, "height": 820}, "color_scheme": "light"}, id="light"),
    pytest.param({"viewport": {"width": 1280, "height": 820}, "color_scheme": "dark"}, id="dark"),
    pytest.param(
        {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark", "has_touch": True}, id="phone"
    ),
    pytest.param(
        {"viewport": {"width": 360, "height": 740}, "color_scheme": "light", "locale": "en-GB"}, id="english"
    ),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium(*FAKE_MICROPHONE) as found:
        yield found


@pytest.mark.parametrize("look", LOOKS)
def test_everyone_can_read_it(browser: Any, look: dict[str, Any]) -> None:
    """Axe finds nothing and nothing sticks out: before a call, while a sentence is said, after a hand-off, and with the
    key's box and a passage open. Nothing is asked of elsewhere, nothing complained of.
    """
    script = [ready("您好，这里是智能客服。"), state("listening"), *answered(), WAIT, *handed_off()]
    with standing_in(StandIn(script)) as there:
        visit = Visit(browser, there.url, **look)
        visit.until("document.querySelector('#service').dataset.ready === 'true'")
        assert visit.violations() == [] and not visit.sticks_out()
        visit.page.locator("#call").click()
        visit.until("document.querySelector('.stage.sound')")
        assert visit.violations() == [] and not visit.sticks_out()
        for _ in range(3):
            there.go()
        visit.state("ended")
        visit.page.locator(".mark").first.click()
        assert visit.page.locator("#peek").is_visible()
        assert visit.violations() == [] and not visit.sticks_out()
        visit.page.locator("#key").click()
        assert visit.violations() == []
        assert visit.trouble == []


def test_a_call_is_shown_as_it_goes_on(browser: Any) -> None:
    """The half sentence, each sentence with its verdict while it is said, its passage with the stretch marked, the
    stages up to the first sound heard, the hand-off with its packet; sound goes both ways all the time.
    """
    start: list[Step] = [ready("您好。"), state("listening")]
    half = question("手机的保修期是多久？", 3.0, 1)[:2]
    with standing_in(StandIn([*start, *half, WAIT, *answered()[2:], WAIT, *handed_off()])) as there:
        visit = Visit(browser, there.url)
        visit.page.locator("#call").click()
        visit.until_shown(".heard.listening", "手机的保修")
        assert visit.texts("#state") == ["在听"] and visit.texts(".phrase p span") == ["您好。"]
        there.go()
        visit.until("document.querySelector('.sentence.sounding') && document.querySelector('.stage.sound')")
        assert visit.texts("#state") == ["在说"]
        assert visit.texts(".sentence.sounding .said") == ["手机主机保修期为12个月。"]
        assert (
            visit.page.locator(".sentence.sounding .verdict").get_attribute("aria-label") == "已核对，正在说"
        )
        assert visit.texts(".sentence.checked .said") == ["手机保修期从签收次日起计算。"]
        assert visit.texts("#evidence mark.now") == ["手机主机保修期为12个月。"]
        assert visit.texts("#evidence mark:not(.now)") == ["手机保修期从签收次日起计算。"]
        assert visit.texts("#evidence cite") == [PHONE["source"]]
        stages = ["等停顿", "听写", "检索", "门控", "核对", "合成", "第一声"]
        assert visit.texts("#waterfall .name") == stages
        there.go()
        visit.until_shown("#evidence mark.now", "手机保修期从签收次日起计算。")
        there.go()
        there.go()
        visit.state("ended")
        assert visit.texts(".outcome:not([hidden])") == ["已回答", "未回答 · 依据不足"]
        assert visit.texts("#handoff dd")[:2] == ["资料里没有可靠依据", "帮我预测一下下周的黄金价格。"]
        assert "已送到" in visit.texts("#handoff dd")
        assert visit.trouble == []
    assert there.offered == [["voice-agent.v1"]]
    first, *later = there.messages
    assert first == {"type": "start", "codec": "pcm16", "rate": RATE_HZ, "record": False, "language": "zh"}
    assert {message["type"] for message in later} == {"played"}
    assert {len(frame) for frame in there.frames} == {2 * RATE_HZ // 50}


def test_what_is_played_is_told_and_what_is_flushed_is_not_heard(browser: Any) -> None:
    """Every sample that was heard is told; after a flush the sound goes on at the place the service names."""
    script: list[Step] = [ready(), state("speaking"), tone(0.6), WAIT, tone(30), WAIT]
    script += [{"type": "flush", "samples": int(30.6 * RATE_HZ)}, tone(0.4)]
    with standing_in(StandIn(script)) as there:
        visit = Visit(browser, there.url)
        visit.page.locator("#call").click()
        visit.until("document.body.dataset.state === 'speaking'")
        wait_for(visit, lambda: there.last_played() == int(0.6 * RATE_HZ))
        there.go()
        wait_for(visit, lambda: there.last_played() > RATE_HZ)
        assert there.last_played() < 8 * RATE_HZ
        there.go()
        wait_for(visit, lambda: there.last_played() == 31 * RATE_HZ)
        visit.page.locator("#call").click()
        visit.state("ended")
        assert visit.trouble == []
    assert there.messages[-1] == {"type": "hang_up"}


def wait_for(visit: Visit, condition: Any) -> None:
    """Lets the page run until it is so."""
    for _ in range(1200):
        if condition():
            return
        visit.page.wait_for_timeout(50)
    raise AssertionError("it never was so")


def test_a_dropped_line_is_taken_up_again(browser: Any) -> None:
    """The page connects again by itself, twice, with the token, and says how much it has; nothing is lost or shown
    twice.
    """
    script: list[Step] = [ready(), *answered()]
    cut = script.index(WAIT)
    again = script.index(WAIT, cut + 1)
    script[again:again] = [DROP]
    script[cut:cut] = [DROP]
    with standing_in(StandIn(script)) as there:
        visit = Visit(browser, there.url)
        visit.page.locator("#call").click()
        wait_for(visit, lambda: len(there.offered) == 2)
        there.go()
        wait_for(visit, lambda: len(there.offered) == 3)
        there.go()
        visit.until_shown(".outcome", "已回答")
        wait_for(visit, lambda: there.last_played() == RATE_HZ)
        said = ["手机主机保修期为12个月。", "手机保修期从签收次日起计算。"]
        assert visit.texts(".sentence.said .said") == said and visit.texts("#told") == ["已经接回。"]
        visit.state("listening")
        assert visit.trouble == []
    assert there.offered[1] == there.offered[2] == ["voice-agent.v1", f"resume.{TOKEN}"]
    resumed = [message for message in there.messages if message["type"] == "resume"]
    assert resumed == [{"type": "resume", "received": received} for received in (cut, again - 1)]


def test_a_line_that_stays_lost_is_said_to_be(browser: Any) -> None:
    """Nobody is left before a page that tries for ever."""
    error = {"type": "error", "kind": "no-resume", "title": "", "detail": ""}
    with standing_in(StandIn([ready(), state("listening"), error, DROP])) as there:
        visit = Visit(browser, there.url)
        visit.page.locator("#call").click()
        visit.until_shown("#notice", "断线太久")
        assert visit.texts("#state") == ["通话结束"] and visit.trouble == []


def test_a_question_can_be_typed(browser: Any) -> None:
    """Sentences with their marks and passages, the times, and what was asked before goes along."""
    with standing_in(StandIn(answers=[typed(), typed("12个月。")])) as there:
        visit = Visit(browser, there.url)
        visit.page.fill("#question", "手机的保修期是多久")
        visit.page.keyboard.press("Enter")
        visit.until_shown(".outcome", "已回答")
        assert visit.texts(".sentence.said .said") == ["手机主机保修期为12个月。"]
        assert visit.texts("#evidence mark") == ["手机主机保修期为12个月。"]
        assert visit.texts("#waterfall .name") == ["检索", "门控", "核对", "答完"]
        visit.page.fill("#question", "那主机呢")
        visit.page.keyboard.press("Enter")
        visit.until("document.querySelectorAll('.sentence.said').length === 2")
        assert visit.trouble == []
    exchange = {"question": "手机的保修期是多久", "answer": "手机主机保修期为12个月。"}
    assert there.asked == [
        {"query": "手机的保修期是多久", "history": []},
        {"query": "那主机呢", "history": [exchange]},
    ]


def test_a_sentence_that_failed_its_check_is_shown_as_withheld(browser: Any) -> None:
    """And those before it are taken back: half an answer misleads."""
    passed = {"text": "保修12个月。[S1]", "passed": True, "reason": None, "cited": [PHONE["id"]]}
    failed = {"text": "电池也是12个月。[S1]", "passed": False, "reason": "NUM_UNSUPPORTED", "cited": []}
    told = typed(
        "保修12个月。", status="refused", reason="NUM_UNSUPPORTED", answer="我帮您转人工。", evidence=[],
        citation_check={"passed": False, "sentences": [passed, failed]},
    )  # fmt: skip
    with standing_in(StandIn(answers=[told])) as there:
        visit = Visit(browser, there.url)
        visit.page.fill("#question", "电池保修多久")
        visit.page.keyboard.press("Enter")
        visit.until_shown(".outcome", "未回答 · 数字对不上原文")
        assert visit.texts(".sentence.dropped .said") == ["保修12个月。"]
        assert visit.texts(".sentence.withheld .why") == ["数字对不上原文"]
        assert visit.texts(".phrase p span") == ["我帮您转人工。"] and visit.trouble == []


def hostile_call() -> list[Step]:
    """Every text of a call is markup that would act."""
    nasty: dict[str, Any] = {key: f"{value}{NASTY}" for key, value in PHONE.items()}
    packet = {
        "question": NASTY, "detail": NASTY, "withheld": {"text": NASTY, "reason": NASTY},
        "history": [[NASTY, NASTY]], "evidence": [[NASTY, NASTY]], "added": [NASTY],
    }  # fmt: skip
    passed = checked(0, f"{NASTY}。[S1]", "", 3.7, 1, cited=[nasty["id"]], evidence=[nasty])
    failed = checked(1, NASTY, "", 3.8, 1, passed=False, reason=NASTY, detail=NASTY, cited=[], evidence=[])
    return [
        ready(NASTY),
        event("partial", 2.0, 1, text=NASTY, settled=NASTY[:5]),
        *question(NASTY, 3.0, 1),
        event("gate", 3.7, 1, outcome=NASTY, reason=NASTY),
        passed,
        failed,
        event("handoff", 4.0, 1, reason=NASTY, delivery=NASTY, packet=packet),
        spoken(5, NASTY, 4.1, 5.0, 1, source="phrase"),
        event("nosuch", 5.0, 1, text=NASTY),
        {"type": "nosuch", "text": NASTY},
        event("reply_ended", 5.0, 1, outcome=NASTY, first_audio_s=None),
        {"type": "error", "kind": NASTY, "title": NASTY, "detail": NASTY},
        DROP,
    ]


def test_no_word_from_outside_acts(browser: Any) -> None:
    """A caller's words, a passage, its source and title, a reason: all of it is text on the page, and only that."""
    told = typed(NASTY, reason=NASTY)
    with standing_in(StandIn(hostile_call(), answers=[told])) as there:
        visit = Visit(browser, there.url)
        visit.page.locator("#call").click()
        visit.until_shown("#notice", NASTY)
        places = ".heard p, .said, .why, .phrase, .outcome, cite, .title, blockquote, #handoff dd"
        for place in places.split(", "):
            assert any(NASTY in text for text in visit.texts(place)), place
        visit.page.fill("#question", NASTY)
        visit.page.keyboard.press("Enter")
        visit.until("document.querySelectorAll('.turn').length === 3")
        visit.until_shown(".turn:last-child .said", NASTY)
        visit.page.locator(".turn:last-child .mark").click()
        assert visit.page.locator("#peek figure").is_visible()
        icons = "[...document.images].every(one => one.src.endsWith('/web/icon.svg'))"
        assert visit.page.title() == "语音坐席" and visit.page.evaluate(icons)
        assert visit.page.evaluate("document.scripts.length") == 1
        assert visit.trouble == []


def test_the_key_stays_in_the_tab_and_out_of_urls(browser: Any) -> None:
    """Asked for when the service wants one; then offered to the call and sent with a question, nowhere else."""
    with standing_in(
        StandIn([ready(), state("listening"), WAIT], answers=[typed()], key="va_secret")
    ) as there:
        visit = Visit(browser, there.url)
        visit.page.locator("#call").click()
        visit.until("document.querySelector('#key-box').open")
        assert visit.texts("#notice") == ["需要访问密钥，或者密钥不对。"]
        visit.page.fill("#key-text", " va_secret\n")
        visit.page.keyboard.press("Enter")
        visit.page.locator("#call").click()
        visit.state("listening")
        visit.page.fill("#question", "保修期")
        visit.page.keyboard.press("Enter")
        visit.until_shown(".outcome", "已回答")
        kept = "[JSON.stringify(localStorage), document.cookie, location.href, document.documentElement.outerHTML]"
        assert not any("va_secret" in text for text in visit.page.evaluate(kept))
        assert visit.page.evaluate("JSON.stringify(sessionStorage)") == '{"voice-agent.key":"va_secret"}'
        assert not any("va_secret" in url for url in [*visit.requests, *there.targets])
        visit.page.locator("#key").click()
        visit.page.locator("#key-drop").click()
        assert visit.page.evaluate("sessionStorage.length") == 0
        # The refused connection and the request that asks why are the browser's own complaints.
        assert all("403" in line or "401" in line for line in visit.trouble), visit.trouble
        assert there.offered == [["voice-agent.v1"], ["voice-agent.v1", "bearer.va_secret"]]


REFUSED = (
    "navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('', 'NotAllowedError') }"
)


def test_without_a_microphone_one_is_told_why_and_can_type(browser: Any) -> None:
    """No call is begun that nobody could speak in."""
    with standing_in(StandIn(answers=[typed()])) as there:
        visit = Visit(browser, there.url, before=REFUSED)
        visit.page.locator("#call").click()
        visit.until_shown("#notice", "没有麦克风权限")
        assert visit.texts("#state") == ["点一下，开口问"] and there.offered == []
        visit.page.fill("#question", "保修期")
        visit.page.keyboard.press("Enter")
        visit.until_shown(".outcome", "已回答")
        assert visit.texts("#notice") == [""] and visit.trouble == []


def test_the_keyboard_does_it_all(browser: Any) -> None:
    """Call, passage, mute and hang up without a pointer; the passage closes on Escape and leaves the focus."""
    with standing_in(StandIn([ready(), *answered(), WAIT])) as there:
        visit = Visit(browser, there.url)
        press, page = visit.page.keyboard.press, visit.page
        page.focus("#call")
        press("Enter")
        visit.until("document.querySelectorAll('.sentence .mark').length === 2")
        page.focus(".mark")
        press("Enter")
        assert page.locator("#peek").is_visible()
        assert page.locator(".mark").first.get_attribute("aria-expanded") == "true"
        press("Escape")
        assert not page.locator("#peek").is_visible()
        assert page.evaluate("document.activeElement.className") == "mark"
        page.focus("#mute")
        press("Space")
        assert page.locator("#mute").get_attribute("aria-pressed") == "true"
        page.focus("#call")
        press("Enter")
        visit.state("ended")
        assert visit.trouble == []


def test_language_and_colours_are_kept(browser: Any) -> None:
    """Everything that is shown changes, and stays so when the page is opened again."""
    with standing_in(StandIn(answers=[typed()])) as there:
        visit = Visit(browser, there.url, color_scheme="light")
        visit.page.fill("#question", "保修期")
        visit.page.keyboard.press("Enter")
        visit.until_shown(".outcome", "已回答")
        visit.page.locator("#language").click()
        assert visit.texts(".outcome") == ["answered"] and visit.page.title() == "Voice agent"
        assert visit.page.evaluate("document.documentElement.lang") == "en"
        colour = "getComputedStyle(document.body).backgroundColor"
        light = visit.page.evaluate(colour)
        visit.page.locator("#colours").click()
        dark = visit.page.evaluate(colour)
        visit.page.reload()
        assert dark != light and visit.page.evaluate(colour) == dark
        assert visit.texts("#state") == ["Tap and ask aloud"] and visit.trouble == []
