package messages

// logAdmission are lines in the log about what the API server asks.
var logAdmission = []Entry{
	{
		Name:    "a function of the admission failed: the request is denied",
		Where:   "error",
		Meaning: "A function that validates or changes objects returned an error that isn't a denial. Its text is only here.",
		Cause:   "Something that the function needs doesn't answer, or the function has a mistake. `function` names it.",
		Remedy:  "Read `error`. To deny a request with a reason, return an error of `admission.Deny` or a `field.Error`.",
	},
	{
		Name:    "a request to the webhook is refused",
		Where:   "warning",
		Meaning: "What was sent to a webhook isn't a review that it can answer. `status` is the HTTP status.",
		Cause:   "Somebody else than the API server has sent it, or the rules of the webhook's configuration name another kind.",
		Remedy:  "Read `error`. Correct the configuration of the webhook if it was made by hand.",
	},
	{
		Name:    "objects can't be converted: whoever reads or writes them gets an error",
		Where:   "error",
		Meaning: "A function that converts between versions returned an error for objects that the API server has stored.",
		Cause:   "The function refuses what the schema of its version allows. `error` names the objects.",
		Remedy:  "Correct the function: it must convert all that the API server stores.",
	},
	{
		Name:    "the object as it is stored can't be read: Request.Old is nil",
		Where:   "warning",
		Meaning: "A request changes an object that doesn't fit the Go type of the functions.",
		Cause:   "It was stored before the schema was as strict as it is now.",
		Remedy:  "Nothing, if the request corrects the object. Functions must expect that `Old` is nil.",
	},
	{
		Name:    "the webhook can't answer: the API server goes by its failure policy",
		Where:   "error",
		Meaning: "A review had no answer, because a function panicked or the answer can't be written.",
		Cause:   "A mistake in a function. `error` has the panic and where it happened.",
		Remedy:  "Correct the function. Until then requests are denied, or allowed, as the failure policy says.",
	},
}
