package messages

// logWebhooks are lines in the log about what an operator keeps for its webhooks.
var logWebhooks = []Entry{
	{
		Name:    "a conversion has no function in this release",
		Where:   "warning",
		Meaning: "The CustomResourceDefinition `definition` has the operator convert a kind that this release doesn't convert.",
		Cause:   "An earlier release converted it.",
		Remedy:  "Call `Convert` again. To end the conversion, remove the old versions from the definition, then run `NAME webhooks --remove --conversions`.",
	},
	{
		Name:    "kinds with webhooks or conversions aren't served by the cluster",
		Where:   "warning",
		Meaning: "The webhooks and conversions of these kinds aren't registered. All others are.",
		Cause:   "The CustomResourceDefinitions of `kinds` aren't applied yet.",
		Remedy:  "Apply them: the rest follows by itself.",
	},
	{
		Name:    "registering webhooks failed, trying again",
		Where:   "warning",
		Meaning: "The API server doesn't know all webhooks, conversions and policies as they are now. Controllers don't start before it does.",
		Cause:   "A right is missing, the API server refuses an object, or it can't be reached. `error` says which.",
		Remedy:  "Grant the rights in the section Webhooks of the README of package operator. Otherwise correct what `error` names.",
	},
	{
		Name:    "there is no certificate for webhooks yet",
		Where:   "warning",
		Meaning: "The Secret with the certificate couldn't be read or written when the process started. It is tried again. Until then webhooks don't answer.",
		Cause:   "The API server is away, the namespace isn't there, or a right to the Secret is missing. `error` says which.",
		Remedy:  "Grant the rights in the section Webhooks of the README of package operator. Otherwise correct what `error` names.",
	},
	{
		Name:    "webhooks and conversions aren't served",
		Where:   "warning",
		Meaning: "This process doesn't answer the API server, and leaves what is registered in the cluster as it is.",
		Cause:   "It runs outside of a Pod, and the API server doesn't know how to reach it.",
		Remedy:  "Set `webhooks.url` to an address that the API server reaches, such as https://192.168.0.7:9443.",
	},
}
