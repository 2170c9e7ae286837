// What the page says, in Chinese and in English. Codes of the service that have no word here are shown as they are.

const ZH = {
  title: "语音坐席",
  conversation: "对话",
  motto: "每一句，先核对，再开口。",
  promise: "只照资料回答；资料里没有的，转给人工。",
  step_listen: "听", step_listen_more: "边说边听写",
  step_search: "查", step_search_more: "在资料里找依据",
  step_check: "核", step_check_more: "逐句对照原文",
  step_speak: "说", step_speak_more: "通过了才出声",
  proof: "依据与过程",
  evidence: "依据", evidence_empty: "说出的每一句都会在这里标出原文。", evidence_none: "这一轮没有引用资料。",
  waterfall: "这一轮的时间", waterfall_empty: "从话音落下到第一声回答，一段一段量给你看。",
  zero_voice: "0 = 话音落下", zero_typed: "0 = 收到问题",
  passage: "原文", turn: "第 {} 轮",
  key: "访问密钥", key_why: "只留在这个标签页里，关掉就忘；不会写进网址。", key_drop: "清除", key_keep: "使用",
  colours: "深色或浅色", call_begin: "开始通话", call_end: "挂断", mute: "静音", unmute: "取消静音", type: "打字提问", send: "提问",
  you: "你", agent: "坐席", you_typed: "你（打字）",
  ready: "就绪 · {} 段资料", not_ready: "尚未就绪", unreachable_short: "连不上",
  state_off: "点一下，开口问", state_connecting: "正在接通", state_listening: "在听", state_thinking: "在想", state_speaking: "在说",
  state_paused: "停下听你说", state_handing_off: "正在转人工", state_ended: "通话结束", state_reconnecting: "断线了，正在接回",
  hint_off: "或者打字", hint_listening: "请讲", hint_muted: "已静音",
  stage_pause: "等停顿", stage_pause_why: "确认话说完了", stage_asr: "听写", stage_asr_why: "声音变成文字",
  stage_search: "检索", stage_search_why: "在资料里找依据并重排", stage_gate: "门控", stage_gate_why: "依据够不够回答",
  stage_check: "核对", stage_check_why: "第一句对照原文", stage_voice: "合成", stage_voice_why: "第一句变成声音，连同路上的时间",
  stage_sound: "第一声", stage_sound_why: "你听到的第一声", stage_shown: "答完", stage_shown_why: "整个回答出来",
  gate_ANSWER: "回答", gate_CLARIFY: "反问", gate_REFUSE: "不答", ahead: "提前",
  said_checked: "已核对，等着说", said_sounding: "已核对，正在说", said_said: "已核对", said_cut: "已核对，说到一半被打断",
  said_dropped: "已核对，没有说出", said_withheld: "没有通过核对，没有说出",
  own_phrase: "固定用语",
  outcome_answered: "已回答", outcome_clarify: "已反问", outcome_refused: "未回答", outcome_blocked: "核对拦下", outcome_failed: "出错",
  outcome_interrupted: "被打断", outcome_asked: "要求人工", outcome_courtesy: "客套", outcome_repeated: "重说一遍", outcome_goodbye: "道别",
  outcome_said: "固定用语", outcome_unfinished: "未完成",
  handoff: "转人工", handoff_reason: "原因", handoff_question: "来电者的话", handoff_detail: "细节", handoff_withheld: "拦下的一句",
  handoff_history: "之前说过", handoff_evidence: "查过的资料", handoff_added: "补充", handoff_delivery: "交接单",
  delivered: "已送到", spooled: "暂存，稍后再送", failed: "没有送到",
  VERDICT: "有一句没有通过核对", GATE: "资料里没有可靠依据", ASKED: "来电者要求", LOW_ASR: "听不清", FAULT: "故障", MAX_LENGTH: "通话过长",
  NO_CITE: "没有引用", BAD_ID: "引用不存在", STALE: "引用已失效", NUM_UNSUPPORTED: "数字对不上原文", UNIT_MISMATCH: "单位对不上",
  COMPARATOR: "比较对不上", ENTITY_MISMATCH: "说的不是同一样东西", ROLE_OR_ANTONYM: "谁对谁说反了", POLARITY: "是非说反了",
  MODALITY: "语气对不上", SCOPE_DROPPED: "漏了条件", IRRELEVANT: "答非所问", NOT_ENTAILED: "原文推不出", UNCHECKABLE: "无法核对",
  CHECK_ERROR: "核对出错",
  NO_INDEX: "没有资料", EMPTY_QUERY: "没有问题", LOW_SCORE: "依据不足", CODE_UNCOVERED: "资料里没有这个代码", SLOT_MISSING: "缺少条件",
  AMBIGUOUS: "有几种可能", CONFLICT: "资料互相矛盾", CONDITION_UNMET: "没有合条件的资料", CHANNEL_DOWN: "检索不全", ASR_LOW: "没有听清", MUST_HANDOFF: "必须由人处理",
  mic_denied: "没有麦克风权限。请在浏览器地址栏里允许，再点一次；也可以打字。", mic_none: "没有找到麦克风。可以打字提问。",
  mic_busy: "麦克风被别的程序占用。", mic_insecure: "浏览器只在 https 或本机地址上开放麦克风。可以打字提问。", mic_lost: "麦克风断开了。",
  "no-key": "需要访问密钥，或者密钥不对。", "not-allowed": "这个密钥不能这样用。", "too-many": "问得太快了，请等一等。",
  "queue-full": "排队的人太多，请等一等。", "calls-full": "线路都在忙，请等一等再打。", "no-calls": "这里不接电话，只能打字。", idle: "太久没有收到声音，通话断了。",
  "taken-over": "通话已在别处接着。", "no-resume": "断线太久，没能接回。可以再打一次。", "slow-reader": "网络太慢，通话断了。", draining: "服务正在停下，请稍后再来。", deadline: "没能及时答出，请再试一次。",
  unavailable: "服务现在答不了，请稍后再试。", unreachable: "连不上服务。请看看网络，再试一次。", invalid: "这个问题格式不对。",
  broken: "页面和服务没有说到一处，请刷新页面再试。",
  internal: "服务出了故障。", lost: "断线太久，没能接回。可以再打一次。", retry: "（{} 秒后）",
  told_connected: "已接通，请讲。", told_resumed: "已经接回。", told_ended: "通话结束。", told_handoff: "正在转人工。",
};

const EN = {
  title: "Voice agent",
  conversation: "Conversation",
  motto: "Checked first. Then spoken.",
  promise: "It answers from the documents alone. What they do not hold goes to a person.",
  step_listen: "Listen", step_listen_more: "written down as you speak",
  step_search: "Search", step_search_more: "evidence in the documents",
  step_check: "Check", step_check_more: "each sentence against its source",
  step_speak: "Speak", step_speak_more: "only what has passed",
  proof: "Evidence and course",
  evidence: "Evidence", evidence_empty: "The source of every sentence will be marked here.", evidence_none: "Nothing was cited in this turn.",
  waterfall: "This turn’s time", waterfall_empty: "From your last word to the first sound of the answer, stage by stage.",
  zero_voice: "0 = end of speech", zero_typed: "0 = question received",
  passage: "Passage", turn: "Turn {}",
  key: "Access key", key_why: "Kept in this tab only and forgotten with it; never part of a URL.", key_drop: "Remove", key_keep: "Use",
  colours: "Dark or light", call_begin: "Start the call", call_end: "Hang up", mute: "Mute", unmute: "Unmute", type: "Type a question", send: "Ask",
  you: "You", agent: "Agent", you_typed: "You (typed)",
  ready: "Ready · {} passages", not_ready: "Not ready", unreachable_short: "Unreachable",
  state_off: "Tap and ask aloud", state_connecting: "Connecting", state_listening: "Listening", state_thinking: "Thinking", state_speaking: "Speaking",
  state_paused: "Paused for you", state_handing_off: "Handing off", state_ended: "Call ended", state_reconnecting: "Connection lost, reconnecting",
  hint_off: "or type", hint_listening: "Go ahead", hint_muted: "Muted",
  stage_pause: "Pause", stage_pause_why: "making sure that you have finished", stage_asr: "ASR", stage_asr_why: "sound to text",
  stage_search: "Search", stage_search_why: "evidence found and ranked", stage_gate: "Gate", stage_gate_why: "is there evidence enough?",
  stage_check: "Check", stage_check_why: "the first sentence against its source", stage_voice: "Voice", stage_voice_why: "the first sentence to sound, and its way to you",
  stage_sound: "First sound", stage_sound_why: "the first you heard", stage_shown: "Answered", stage_shown_why: "the whole answer is here",
  gate_ANSWER: "answer", gate_CLARIFY: "ask back", gate_REFUSE: "refuse", ahead: "early",
  said_checked: "Checked, about to be said", said_sounding: "Checked, being said", said_said: "Checked", said_cut: "Checked, cut off",
  said_dropped: "Checked, not said", said_withheld: "Failed its check, not said",
  own_phrase: "set phrase",
  outcome_answered: "answered", outcome_clarify: "asked back", outcome_refused: "not answered", outcome_blocked: "blocked by the check",
  outcome_failed: "fault", outcome_interrupted: "interrupted", outcome_asked: "asked for a person", outcome_courtesy: "courtesy",
  outcome_repeated: "repeated", outcome_goodbye: "goodbye", outcome_said: "set phrase", outcome_unfinished: "unfinished",
  handoff: "Handed to a person", handoff_reason: "Why", handoff_question: "The caller said", handoff_detail: "Detail", handoff_withheld: "Withheld",
  handoff_history: "Said before", handoff_evidence: "Passages looked at", handoff_added: "Added", handoff_delivery: "Hand-off note",
  delivered: "delivered", spooled: "kept, sent later", failed: "not delivered",
  VERDICT: "a sentence failed its check", GATE: "no reliable evidence in the documents", ASKED: "the caller asked", LOW_ASR: "could not be heard",
  FAULT: "a fault", MAX_LENGTH: "the call was too long",
  NO_CITE: "no citation", BAD_ID: "cites nothing", STALE: "source out of date", NUM_UNSUPPORTED: "number not in the source", UNIT_MISMATCH: "wrong unit",
  COMPARATOR: "wrong comparison", ENTITY_MISMATCH: "about something else", ROLE_OR_ANTONYM: "roles turned round", POLARITY: "yes and no turned round",
  MODALITY: "stronger or weaker than the source", SCOPE_DROPPED: "a condition is missing", IRRELEVANT: "beside the question",
  NOT_ENTAILED: "does not follow", UNCHECKABLE: "cannot be checked", CHECK_ERROR: "the check failed",
  NO_INDEX: "no documents", EMPTY_QUERY: "no question", LOW_SCORE: "too little evidence", CODE_UNCOVERED: "no such code in the documents",
  SLOT_MISSING: "a condition is missing", AMBIGUOUS: "several readings", CONFLICT: "documents disagree", CONDITION_UNMET: "nothing fits the conditions", CHANNEL_DOWN: "search incomplete",
  ASR_LOW: "not heard well", MUST_HANDOFF: "for a person only",
  mic_denied: "No permission for the microphone. Allow it beside the address and tap again, or type.", mic_none: "No microphone was found. You can type.",
  mic_busy: "Another program uses the microphone.", mic_insecure: "Browsers give the microphone to https and local pages only. You can type.",
  mic_lost: "The microphone has gone.",
  "no-key": "An access key is needed, or this one is wrong.", "not-allowed": "This key may not do that.", "too-many": "Too fast. Please wait a moment.",
  "queue-full": "Too many are waiting. Please wait a moment.", "calls-full": "All lines are busy. Call again in a moment.", "no-calls": "No calls are taken here; you can type.",
  idle: "No sound came for too long; the call has ended.", "taken-over": "The call goes on elsewhere.",
  "no-resume": "The line was lost for too long. You can call again.", "slow-reader": "The network is too slow for a call.", draining: "The service is shutting down. Come back later.",
  deadline: "No answer in time. Please try again.", unavailable: "The service cannot answer now. Try again later.",
  unreachable: "The service cannot be reached. Check the network and try again.", invalid: "The question has the wrong form.",
  broken: "The page and the service misunderstood each other. Reload the page and try again.",
  internal: "The service has a fault.", lost: "The line was lost for too long. You can call again.", retry: " ({} s)",
  told_connected: "Connected. Go ahead.", told_resumed: "Connected again.", told_ended: "The call has ended.", told_handoff: "Handing over to a person.",
};

const MISUNDERSTOOD = new Set([
  "bad-request", "key-in-url", "foreign-origin", "unknown-host", "too-slow", "too-large", "bad-message", "bad-audio",
  "too-fast", "no-start",
]);

const NAME = "voice-agent.language";
const LANGUAGES = { zh: ZH, en: EN };

let language = first();

function first() {
  const kept = localStorage.getItem(NAME);
  if (kept in LANGUAGES) return kept;
  return navigator.languages?.some((one) => one.startsWith("zh")) === false && navigator.language?.startsWith("en") ? "en" : "zh";
}

/** "zh" or "en". */
export const spoken = () => language;

export function speak(other) {
  language = other;
  localStorage.setItem(NAME, other);
}

/** The words for a name, with `value` in their place for one. A name without words is shown as it is. */
export function say(name, value = "") {
  const words = LANGUAGES[language];
  return (Object.hasOwn(words, name) ? words[name] : String(name)).replace("{}", () => value);
}

/** The words for a problem of the service. */
export const trouble = (kind) => say(MISUNDERSTOOD.has(kind) ? "broken" : kind);

/** Puts the words of this language in every element that names some. */
export function translate(root = document) {
  document.documentElement.lang = language;
  document.title = say("title");
  for (const element of root.querySelectorAll("[data-say]")) element.textContent = say(element.dataset.say);
  for (const element of root.querySelectorAll("[data-label]")) {
    element.setAttribute("aria-label", say(element.dataset.label));
    if (element.tagName === "BUTTON") element.title = say(element.dataset.label);
  }
  for (const element of root.querySelectorAll("[data-hint]")) element.placeholder = say(element.dataset.hint);
}
