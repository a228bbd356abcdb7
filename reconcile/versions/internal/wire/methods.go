package wire

// Protocol is the version of the protocol. Both sides must have the same version.
const Protocol = 1

// The methods that a manager calls in a child.
const (
	Hello    = "hello"    // Greeting -> Declaration
	Setup    = "setup"    // Session -> Described
	Render   = "render"   // Part -> Objects
	Content  = "content"  // Part -> the content of an object
	Gate     = "gate"     // Part -> bool
	Judge    = "judge"    // Part
	Hook     = "hook"     // HookCall -> HookAnswer
	Release  = "release"  // ID of a session; a notice
	When     = "when"     // EventQuery -> bool
	Keys     = "keys"     // EventQuery -> []Ref
	External = "external" // Kind; runs the external sources of a kind until the call is cancelled
)

// The methods that a child calls in its manager.
const (
	Get    = "get"    // Read -> Found
	List   = "list"   // Read -> Found
	Scope  = "scope"  // Kind -> text
	Kinds  = "kinds"  // text -> []Kind
	Own    = "own"    // Read
	Follow = "follow" // Read; without a name: all objects of the kind, the namespace and the labels
	Delete = "delete" // Read
	Event  = "event"  // Recorded; a notice
	Set    = "set"    // StatusField; a notice
	State  = "state"  // Condition; a notice
	Flush  = "flush"  // ID of a session
	Log    = "log"    // Logged; a notice
	Bring  = "bring"  // SourceReport; a notice
	Known  = "known"  // Kind -> []Ref
	Failed = "failed" // SourceReport; a notice
)

// The hooks of a controller, by the names of their methods.
const (
	Finalize        = "Finalize"
	AfterDeploy     = "AfterDeploy"
	AfterVerify     = "AfterVerify"
	AfterIncomplete = "AfterIncomplete"
	Exhausted       = "Exhausted"
	Requeue         = "Requeue"
)
