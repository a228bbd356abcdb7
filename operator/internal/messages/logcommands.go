package messages

// logCommands are lines in the log about versions, and of commands.
var logCommands = []Entry{
	{
		Name:    "a version has ended; it is started again when it is needed",
		Where:   "warning",
		Meaning: "The process of a version of the operator has ended by itself.",
		Cause:   "It crashed, was killed for its memory, or exited.",
		Remedy:  "Read `error` and the lines of that version before it.",
	},
	{
		Name:    "a version has ended soon after its start; it is started again when it is needed",
		Where:   "warning",
		Meaning: "The process of a version ends again and again. Its resources aren't reconciled until it runs.",
		Cause:   "It crashes at its start: a wrong setting, a missing file, or too little memory.",
		Remedy:  "Read `error` and the lines of that version before it. `not_before` is the pause until the next start.",
	},
	{
		Name:    "the program of a version is of another release: check that it is in the right folder",
		Where:   "warning",
		Meaning: "The program in the folder of a version says that it is of another release. It is used anyway.",
		Cause:   "It was copied into the wrong folder.",
		Remedy:  "Put the right program into the folder that `version` names.",
	},
	{
		Name:    "a version can't evaluate an event: the event counts",
		Where:   "warning",
		Meaning: "A version was asked whether an event matters, and didn't answer. A reconcile may be needless.",
		Cause:   "Its process is busy, ends, or its filter takes too long.",
		Remedy:  "Nothing if it is rare. Otherwise make the filter of that version faster.",
	},
	{
		Name:    "a kind can't be shown",
		Where:   "warning",
		Meaning: "`NAME status --watch` leaves a kind out.",
		Cause:   "You aren't allowed to list or watch it, or it isn't served.",
		Remedy:  "Read `error`. Your own rights count here, not those of the operator.",
	},
	{
		Name:    "kinds may be missing",
		Where:   "warning",
		Meaning: "A command couldn't find all kinds that the operator drives.",
		Cause:   "An aggregated API is unavailable.",
		Remedy:  "`kubectl get apiservices` shows it.",
	},
	{
		Name:    "values of Secrets are masked: add --show-secrets before you apply the output",
		Where:   "warning",
		Meaning: "`NAME render` has replaced the values of Secrets.",
		Cause:   "That is the default, so that they don't get into a log or a repository.",
		Remedy:  "Add `--show-secrets` if you apply the output. Otherwise nothing.",
	},
	{
		Name:    "the resource can't be rolled out: its deletion is rendered anyway",
		Where:   "warning",
		Meaning: "`NAME render --delete` couldn't roll the resource out first, so `Finalize` doesn't find its objects.",
		Cause:   "`Setup` reports an error for the resource in the file.",
		Remedy:  "Read `error`, and correct the resource in the file.",
	},
}
