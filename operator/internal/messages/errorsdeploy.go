package messages

// errorsDeploy are errors of the rooms that write objects.
var errorsDeploy = []Entry{
	{
		Name:    "deploy.InvalidManifestError",
		Texts:   []string{"invalid manifest"},
		Meaning: "An object can't be sent. No request was made.",
		Cause:   "The operator rendered an object without a name, a kind or a namespace, with an invalid name, or twice.",
		Remedy:  "Correct what the operator renders; the text says what is wrong with which object.",
	},
	{
		Name:    "deploy.KindUnknownError",
		Texts:   []string{"is not served by the cluster"},
		Meaning: "The cluster doesn't serve the kind.",
		Cause:   "Its CustomResourceDefinition isn't installed, or `apiVersion` or `kind` is misspelt.",
		Remedy:  "Install the definition, or correct the names. The operator continues when the kind is served.",
	},
	{
		Name:    "deploy.AmbiguousKindError",
		Texts:   []string{"is ambiguous: name the apiVersion of one of"},
		Meaning: "Several kinds have the name that was given without a group.",
		Cause:   "Two groups serve a kind of the same name.",
		Remedy:  "Name the kind with its group, as in `deployment.apps`.",
	},
	{
		Name:    "deploy.NotFoundError",
		Texts:   []string{"not found"},
		Meaning: "An object that a request needs doesn't exist.",
		Cause: "It was deleted, or the name or the namespace is wrong. For a new object it is mostly its namespace " +
			"that is missing.",
		Remedy: "Create what the text names, or correct the name.",
	},
	{
		Name:    "deploy.AlreadyExistsError",
		Texts:   []string{"exists already"},
		Meaning: "An object can't be created, because one of that name exists.",
		Cause:   "Another program created it at the same moment.",
		Remedy:  "Nothing: the operator reads it and decides again. If it stays, see [OwnedError](#deployownederror).",
	},
	{
		Name:    "deploy.ForbiddenError",
		Texts:   []string{"grant it by RBAC", "was refused:"},
		Meaning: "The API server forbids a request: a right is missing, or admission refuses it.",
		Cause: "The role of the operator lacks the right, a quota is used up, a policy refuses the object, or its " +
			"namespace is being deleted.",
		Remedy: "For a missing right, add the verb and the resource to the role. Otherwise do what the rest of the " +
			"text says: it is the answer of the API server.",
	},
	{
		Name:  "deploy.MissingRightsError",
		Texts: []string{"rights are missing: add to the"},
		Meaning: "Requests were refused because the operator's role lacks rights. The text begins with the rules that " +
			"grant all of them.",
		Cause: "The role was written by hand or is older than this release, or its binding is missing.",
		Remedy: "Add the rules to the ClusterRole, or to the Role of the namespace, that the text names. The operator " +
			"tries again by itself.",
	},
	{
		Name:    "deploy.ConflictError",
		Texts:   []string{"fields belong to another manager", "another manager sets fields again and again", "another process applies this object as the same field manager"},
		Meaning: "Fields of an object belong to another manager, which sets them too.",
		Cause: "Somebody changed them with another tool, another controller sets them, or the operator is installed " +
			"twice.",
		Remedy: "Let only one of the two set these fields: don't render them, or choose by " +
			"`operator.Manager(deploy.Conflicts(...))` who wins. If the same field manager is named, stop one of the " +
			"two installs.",
	},
	{
		Name:    "deploy.StaleError",
		Texts:   []string{"changed since it was read"},
		Meaning: "The object has changed, or was replaced by a new one, since it was read.",
		Cause:   "Another program wrote it at the same moment.",
		Remedy:  "Nothing: the operator reads it again. If it stays, find out who writes the object all the time.",
	},
	{
		Name:    "deploy.InvalidError",
		Texts:   []string{"refused:"},
		Meaning: "The API server, or a policy, refuses the content of an object.",
		Cause:   "A value is invalid, a field can't be changed any more, or the object is too large.",
		Remedy: "Correct the field that the text names. For fields that can't be changed, see " +
			"[Production](production.md#fields-that-cant-be-changed).",
	},
	{
		Name:    "deploy.UnavailableError",
		Texts:   []string{"API server unavailable"},
		Meaning: "The API server didn't answer, or asked to try again later.",
		Cause: "It is down, restarts or is overloaded, a proxy answers instead of it, a webhook can't be reached, or " +
			"the credentials have expired.",
		Remedy: "Wait: the operator tries again. If it stays, look at the API server. If the text has `credentials`, " +
			"log in again.",
	},
	{
		Name:    "deploy.TimeoutError",
		Texts:   []string{"not in time"},
		Meaning: "A request or a wait took longer than it may.",
		Cause: "An object that has to be gone waits for a finalizer, an object didn't become ready, or the API server " +
			"was slow.",
		Remedy: "Read the reason in the text. The operator tries again.",
	},
	{
		Name:    "deploy.OwnedError",
		Texts:   []string{"exists already and was not created for this owner", "and isn't ours to delete", "isn't ours to delete", "by its label"},
		Meaning: "An object of that name exists and belongs to somebody else, so the operator leaves it alone.",
		Cause: "A second resource renders an object of the same name, somebody made it by hand, or it was restored " +
			"from a backup.",
		Remedy: "Rename the object that the operator renders, or delete the existing one. " +
			"`operator.Manager(deploy.Adopt(deploy.AdoptUnowned))` adopts objects without an owner.",
	},
	{
		Name:    "deploy.TerminatingError",
		Texts:   []string{"it is applied again once it is gone"},
		Meaning: "An object is being deleted, so it can't be applied now.",
		Cause:   "Somebody deleted it, and it waits for the finalizers in the text.",
		Remedy:  "Wait. If it stays, find out who owns these finalizers and whether that controller runs.",
	},
	{
		Name:    "deploy.InvalidSetError",
		Texts:   []string{"ApplySet of"},
		Meaning: "A set of objects can't be applied as a whole. Nothing was changed.",
		Cause: "The set is empty, or the labels and annotations of its parent are incomplete or copied from another " +
			"one.",
		Remedy: "Do what the text says.",
	},
	{
		Name:    "cluster.ErrNoCluster",
		Texts:   []string{"no cluster: set KUBECONFIG"},
		Meaning: "No configuration names an API server.",
		Cause:   "There is no kubeconfig file, and the process doesn't run in a Pod with a service account.",
		Remedy:  "Set `KUBECONFIG` or `--kubeconfig`. In a Pod, give it a service account whose token is mounted.",
	},
	{
		Name:    "dryrun.ExpiredError",
		Texts:   []string{"not kept any more, list again"},
		Meaning: "In memory: the events since a resourceVersion aren't kept any more.",
		Cause:   "The watch continues from a version that is too old.",
		Remedy:  "List again, as clients of a real API server do.",
	},
	{
		Name:    "smp.PatchError",
		Meaning: "A patch can't be applied to a document.",
		Cause: "It isn't well-formed, a path doesn't exist, a value has another type, or the kind doesn't have the " +
			"field.",
		Remedy: "Correct the place in the patch that the text names. `NAME render` with the patch shows the result " +
			"without a cluster.",
	},
}
