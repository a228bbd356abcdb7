package messages

// logWatchers are lines in the log about the watchers of package reconcile/watcher.
var logWatchers = []Entry{
	{
		Name:    "a watcher has failed",
		Where:   "warning",
		Meaning: "A call of a watcher ended with an error. It is repeated after `retry_in`.",
		Cause:   "The text of `error` says why; `attempts` counts the failures in a row.",
		Remedy:  "Nothing, if it goes away. Otherwise correct what `error` names: a change of the object ends the wait.",
	},
	{
		Name:    "a watcher was given up",
		Where:   "error",
		Meaning: "A call of a watcher isn't repeated until an event of the object, a resync, a forced reconcile or a restart.",
		Cause:   "The retry policy allows no further try, or the error is permanent.",
		Remedy: "Correct what `error` names, and then force a reconcile by the command trigger. Use the option " +
			"`watcher.Resync`, or a policy with more retries, for failures that last longer.",
	},
	{
		Name:    "a watcher panicked",
		Where:   "error",
		Meaning: "The code of a watcher panicked. That counts as an error of this call.",
		Cause:   "A mistake in the watcher, such as a nil pointer.",
		Remedy:  "The attribute `at` has the file and line, `stack` the calls. Correct the watcher.",
	},
	{
		Name:    "a call of a watcher has failed, and its object is gone",
		Where:   "warning",
		Meaning: "The object was deleted during the call. The call isn't repeated; `Delete` of the watcher is called.",
		Cause:   "The text of `error` says why.",
		Remedy:  "Nothing.",
	},
	{
		Name:    "a filter of a watcher panicked: the event counts",
		Where:   "error",
		Meaning: "A filter of `watcher.When` panicked. It is logged once for each watcher. The watcher is called for the event.",
		Cause:   "A mistake in the filter, such as a nil pointer in a field that the object doesn't have.",
		Remedy:  "Correct the filter of the watcher that `watcher` names.",
	},
	{
		Name:  "a policy of a watcher panicked: the default decides",
		Where: "error",
		Meaning: "A policy of `watcher.Retry` or `watcher.Dequeue` panicked. It is logged once for each watcher. " +
			"`watcher.DefaultRetry` or `watcher.Opinionated` decides instead.",
		Cause:  "A mistake in the policy, such as an error of a type that it doesn't expect.",
		Remedy: "Correct the policy of the watcher that `watcher` names.",
	},
	{
		Name:    "the function of OnError panicked",
		Where:   "error",
		Meaning: "The code that `watcher.OnError` has set panicked. The watchers go on.",
		Cause:   "A mistake in the function.",
		Remedy:  "The attribute `error` has the value of the panic. Correct the function.",
	},
}
