package messages

// logLeader are lines in the log about the leadership.
var logLeader = []Entry{
	{
		Name:    "the lock can't be read or written, trying again",
		Where:   "warning",
		Meaning: "The Lease or the other object by which replicas elect a leader can't be used.",
		Cause:   "A right is missing (`grant` names it), or the API server doesn't answer.",
		Remedy:  "Grant the right. If the API server is down, the leader ends when its Lease can't be renewed in time.",
	},
	{
		Name:    "this replica has lost the leadership",
		Where:   "error",
		Meaning: "The process was the leader and isn't any more. It ends, and its Pod is restarted.",
		Cause: "It couldn't renew its Lease before the renew deadline (10 s), or another replica has taken the Lease " +
			"over.",
		Remedy: "Nothing if it is rare. Otherwise look at the API server's answer times and at the CPU of the Pod: set " +
			"no CPU limit. If the attribute `lock` is a Lease `NAME-peer-...`, it is that of a process with a priority, " +
			"which goes on when it can.",
	},
	{
		Name:    "the leadership wasn't released: the next leader waits until the lock runs out",
		Where:   "warning",
		Meaning: "The process ends, and the next leader starts up to 15 s later than usual.",
		Cause:   "The API server didn't answer, or the right to update the lock is missing.",
		Remedy:  "Nothing if it is rare. Otherwise read `error`.",
	},
	{
		Name:    "this process pauses: another one has the same priority, so none of them works",
		Where:   "warning",
		Meaning: "Several processes of the operator have the same `peering.priority`. All of them pause.",
		Cause: "A second process was started, such as one on a developer's machine, or several replicas run without " +
			"leader election.",
		Remedy: "Give one of them another priority, or stop it: `NAME peers` shows them. The attribute `peers` names the " +
			"others.",
	},
	{
		Name:    "the Leases of peers can't be read: this process doesn't work before",
		Where:   "warning",
		Meaning: "The process has a `peering.priority`, and doesn't know whether another process works.",
		Cause:   "A right is missing (`grant` names all of them), or the API server doesn't answer.",
		Remedy:  "Grant the rights in the namespace that `grant` names, or leave the setting `peering.priority` out.",
	},
	{
		Name:    "this process had to stop, because its peers may not see it any more: it tries again",
		Where:   "warning",
		Meaning: "The process couldn't renew its Lease before the renew deadline (10 s). It has cancelled its reconciles.",
		Cause:   "The API server didn't answer, or the process got no processor time.",
		Remedy:  "Nothing if it is rare: it goes on when it can renew its Lease again. Otherwise read `error`.",
	},
	{
		Name:    "taking the lock panicked",
		Where:   "error",
		Meaning: "The code that takes the lock of a resource panicked. The resource is tried again.",
		Cause:   "A mistake in operkit, or in a transport that an extension adds to the client.",
		Remedy:  "The attribute `stack` has the place. Report it, unless it is your own code.",
	},
	{
		Name:    "the lock wasn't released: other replicas wait until it expires",
		Where:   "warning",
		Meaning: "With `per-object` locks: a resource isn't reconciled by other replicas until its lock expires.",
		Cause:   "The API server didn't answer, or somebody else wrote the resource at the same moment.",
		Remedy:  "Nothing if it is rare. Otherwise read `error`.",
	},
	{
		Name:    "this replica doesn't lead any more, cancelling its reconciles",
		Where:   "warning",
		Meaning: "The leadership is lost, so running reconciles are cancelled. The process ends.",
		Cause:   "See the line `this replica has lost the leadership`.",
		Remedy:  "Nothing: another replica leads, and repeats what was cancelled.",
	},
	{
		Name:    "the leadership is lost, but reconciles don't end: the process exits without waiting for them",
		Where:   "error",
		Meaning: "A reconcile ignores the end of its context, so the process exits without waiting for it.",
		Cause:   "The operator's code calls something without the context.",
		Remedy:  "Pass the context to every call. The attribute `after` is the time that the process has waited.",
	},
}
