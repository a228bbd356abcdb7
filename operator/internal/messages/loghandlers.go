package messages

// logHandlers are lines in the log about the handlers of package reconcile/handlers.
var logHandlers = []Entry{
	{
		Name:    "a handler has failed",
		Where:   "warning",
		Meaning: "An attempt of a handler ended with an error. The handler is called again after `retry_in`.",
		Cause:   "The text of `error` says why; `attempts` counts the attempts for this cause.",
		Remedy:  "Nothing, if it goes away. Otherwise correct what `error` names: a change of the object ends the wait.",
	},
	{
		Name:    "a handler has failed for good",
		Where:   "error",
		Meaning: "A handler isn't called again until the object changes. An object that is being deleted is released.",
		Cause:   "`MaxAttempts` or `Within` is reached, the error is permanent, or the handler has `Errors(Fail)`.",
		Remedy:  "Correct what `error` names, and then change the object, for example by an annotation of your own.",
	},
	{
		Name:    "an error of a handler is ignored",
		Where:   "warning",
		Meaning: "A handler ended with an error, and counts as succeeded.",
		Cause:   "It has the option `Errors(Ignore)`.",
		Remedy:  "Nothing, if the error doesn't matter. Otherwise leave the option out.",
	},
	{
		Name:    "a handler panicked",
		Where:   "error",
		Meaning: "The code of a handler panicked. That counts as an error of this attempt.",
		Cause:   "A mistake in the handler, such as a nil pointer.",
		Remedy:  "The attribute `at` has the file and line, `stack` the calls. Correct the handler.",
	},
	{
		Name:    "a handler of an event has failed, the event isn't repeated",
		Where:   "warning",
		Meaning: "A handler of `Seen` or `OnClusterEvent` ended with an error. It is called with the next event.",
		Cause:   "The text of `error` says why.",
		Remedy:  "Use `On` for work that has to succeed: its handlers are called again.",
	},
	{
		Name:    "what a handler of an event has set can't be written",
		Where:   "warning",
		Meaning: "What a handler of `Seen` or `OnClusterEvent` has set is lost. `handler` names it.",
		Cause:   "The cluster refused the change, or didn't answer.",
		Remedy:  "Use `On` for changes that have to be written.",
	},
	{
		Name:    "the record of handlers can't be read: the deletion goes on without it",
		Where:   "warning",
		Meaning: "The handlers of the deletion are called without what was handled before.",
		Cause:   "Somebody changed the annotation that `annotation` names.",
		Remedy:  "Nothing: the record goes with the object.",
	},
	{
		Name:    "the progress of the deletion can't be stored: it is kept in memory",
		Where:   "warning",
		Meaning: "Handlers of the deletion that have succeeded are called again if the process ends before the deletion does.",
		Cause:   "The annotations of the object leave no room for the record: an object can have 256 KiB of them.",
		Remedy:  "Nothing, if the deletion ends. Otherwise remove large annotations.",
	},
	{
		Name: "handlers call themselves again and again: they change the object with each update, which is an update: " +
			"change fields that no handler is about, or set the same value each time",
		Where: "warning",
		Meaning: "Handlers of updates change the object by `Update` or `Result` in a field that counts, which calls them again: one " +
			"outside of the status, or one of the status that a handler is about.",
		Cause:  "`handlers` names them, and `changed` one of the fields. The value is another one each time.",
		Remedy: "Set such values in another field of the status, or leave the field out of what counts by `handlers.Ignoring`.",
	},
	{
		Name:    "conditions aren't written",
		Where:   "error",
		Meaning: "A handler has reported a condition that isn't valid, so none of its pass is written.",
		Cause:   "The text of `error` says what is wrong: mostly a type that no handler declares by `Reports`.",
		Remedy:  "Correct the call of `Request.Condition`.",
	},
	{
		Name:    "an Event can't be read",
		Where:   "warning",
		Meaning: "The handlers of `OnClusterEvent` aren't called for this Event.",
		Cause:   "A field of the Event has another type than in events.k8s.io/v1.",
		Remedy:  "Nothing. Tell those who maintain the program that has reported it.",
	},
	{
		Name:    "the record of handlers can't be read: the last calls of crons are unknown",
		Where:   "warning",
		Meaning: "Handlers of `Cron` may be called once too often for this object.",
		Cause:   "Somebody changed the annotation that `annotation` names.",
		Remedy:  "Remove the annotation: then the object is handled as a new one.",
	},
	{
		Name:    "a daemon doesn't return after it was stopped: nothing waits for it any more",
		Where:   "warning",
		Meaning: "A daemon was abandoned: its goroutine still runs, and its object gets no other one meanwhile.",
		Cause:   "Its code doesn't look at its context, or needs longer than its `Grace` to end. `why` is the reason of the stop.",
		Remedy: "Return when the context ends, for example by `Request.Sleep`, or give the daemon a longer `handlers.Grace`. " +
			"Only a restart of the operator ends the goroutine.",
	},
	{
		Name:    "a daemon has failed after it was stopped",
		Where:   "warning",
		Meaning: "A daemon returned an error after its context had ended. It isn't called again because of that.",
		Cause:   "The text of `error` says why, `why` is the reason of the stop. What it has set may not be written.",
		Remedy:  "Nothing, if the error only says that the context has ended. Otherwise correct what it names.",
	},
	{
		Name:    "the state of the object before can't be read: its handlers get none",
		Where:   "warning",
		Meaning: "`Request.Old` is nil for this call; `Request.Diff` is as always.",
		Cause:   "The Go type of the handlers can't hold the state that an earlier version of the operator has recorded.",
		Remedy:  "Nothing. The record is replaced when the handlers have ended.",
	},
	{
		Name:    "a filter of a handler panicked: the handler isn't called for the object",
		Where:   "error",
		Meaning: "A function of `When`, or a check, panicked. It is logged once for each handler. A finalizer stays.",
		Cause:   "A mistake in the function, such as a nil pointer in a field that the object doesn't have.",
		Remedy:  "Correct the function that `error` names.",
	},
}
