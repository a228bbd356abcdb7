package messages

// logServing are lines in the log about the certificate of a server of the process itself.
var logServing = []Entry{
	{
		Name:    "the Secret of a serving certificate can't be watched: changes by others are noticed late",
		Where:   "warning",
		Meaning: "The process reads the Secret each five minutes instead. Until it can watch it, it serves a former certificate for a while after another process has renewed it.",
		Cause:   "A right is missing (`grant` names all of them), or the API server doesn't answer.",
		Remedy:  "Grant the rights in the namespace that `grant` names. If the API server is down, nothing.",
	},
	{
		Name:  "the Secret of a serving certificate isn't as it should be: what is there is served",
		Where: "warning",
		Meaning: "The certificate of a server, such as that of webhooks, can't be created, renewed or put in order. It is served until " +
			"it expires (`expires`), and the write is tried again.",
		Cause: "A right or the namespace is missing, the API server doesn't answer, somebody else has stored a certificate in the Secret, " +
			"or another program changes the Secret again and again.",
		Remedy: "Do what `error` says before the time in `expires`.",
	},
	{
		Name:  "the Secret of a serving certificate was put in order",
		Where: "warning",
		Meaning: "The Secret was deleted, damaged, or changed by hand. What the process still had was stored again, or a part was made " +
			"anew; `reason` says which.",
		Cause:  "Somebody, or another program, has changed the Secret.",
		Remedy: "Nothing. To replace the CA, set the annotation `operkit.dev/renew` of the Secret instead. If it repeats, find the program that changes the Secret.",
	},
	{
		Name:    "the clock of this process is wrong: certificates get the time of the API server",
		Where:   "warning",
		Meaning: "The clock of the node differs from that of the API server by more than five minutes: it is ahead by `ahead`.",
		Cause:   "The node doesn't synchronise its clock.",
		Remedy:  "Correct the clock of the node: other programs on it go by it.",
	},
	{
		Name:    "the function Changed of a serving certificate panicked",
		Where:   "error",
		Meaning: "The function that is called with new CAs panicked. The certificate is served; who has to trust the CAs may not have them.",
		Cause:   "A mistake in the function Changed of `serving.Config`.",
		Remedy:  "Correct the function: the error has the stack.",
	},
}
