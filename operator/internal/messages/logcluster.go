package messages

// logCluster are lines in the log about reading the cluster.
var logCluster = []Entry{
	{
		Name:  "watch failed, trying again",
		Where: "warning",
		Meaning: "The operator can't list or watch a kind, and tries again. Meanwhile it doesn't notice changes of its " +
			"objects.",
		Cause: "The right to list or watch the kind is missing, the kind isn't served, or the API server doesn't " +
			"answer.",
		Remedy: "Read `error`. Grant the right by RBAC, or install the CustomResourceDefinition. The line `watching " +
			"again` tells when it works.",
	},
	{
		Name:  "watches end immediately, listing repeatedly",
		Where: "warning",
		Meaning: "The watches of a kind end at once, so the operator lists all objects again and again, which costs " +
			"the API server a lot.",
		Cause: "A proxy or a load balancer in front of the API server cuts long responses, or an aggregated API " +
			"doesn't support watches well.",
		Remedy: "Raise the idle timeout of the proxy. For an aggregated API, look at its server.",
	},
	{
		Name:  "can't discover all kinds, retrying",
		Where: "warning",
		Meaning: "The API server couldn't say which kinds it serves. Kinds of the groups that failed are used as they " +
			"were known before.",
		Cause: "An aggregated API is unavailable, or the API server doesn't answer.",
		Remedy: "`kubectl get apiservices` shows the APIs that aren't available. Repair their servers, or delete the " +
			"APIService.",
	},
	{
		Name:    "the kind isn't served any more, waiting until it is",
		Where:   "warning",
		Meaning: "The API server doesn't serve a kind any more. For the operator, all its objects are gone.",
		Cause:   "Its CustomResourceDefinition was deleted, or doesn't serve this version any more.",
		Remedy:  "Install the definition again, with that version. The operator continues by itself.",
	},
	{
		Name:  "an object can't be read, leaving it out",
		Where: "error",
		Meaning: "The API server sent an object that the operator can't decode. The operator works as if it didn't " +
			"exist.",
		Cause: "The object has a field whose type the kind doesn't allow, or has no name. It may be stored from before " +
			"a change of the schema.",
		Remedy: "Correct or delete the object that the line names.",
	},
	{
		Name:  "the watch did not show our own write in time, reading the object",
		Where: "warning",
		Meaning: "The watch of a kind is late: it hasn't shown a write of the operator. The operator reads the object " +
			"instead.",
		Cause:  "The API server, or a proxy in front of it, sends events late or has lost them.",
		Remedy: "Nothing if it is rare. Otherwise look at the load and the watch cache of the API server.",
	},
	{
		Name:  "can't find out whether objects are deleted or only not selected any more, trying again",
		Where: "warning",
		Meaning: "Objects have left a watch with a selector, and the read that tells why fails. The operator doesn't " +
			"report them as deleted yet.",
		Cause:  "The right to get the kind is missing, or the API server doesn't answer.",
		Remedy: "Read `error`. Grant get on the kind by RBAC.",
	},
	{
		Name:    "warning of the API server",
		Where:   "warning",
		Meaning: "The API server has answered a write with a warning. The write itself was done.",
		Cause:   "The object uses a deprecated version or field, or a policy only warns.",
		Remedy:  "Do what `warning` says, in what the operator renders. A text is logged once for each kind.",
	},
}
