package wire

// Protocol is the number of the protocol. Another one can't be spoken.
const Protocol = 1

// What a manager calls of a child.
const (
	Hello    = "hello"    // Greeting -> Declaration
	Setup    = "setup"    // Session -> Described
	Render   = "render"   // Part -> Objects
	Content  = "content"  // Part -> the content of an object
	Gate     = "gate"     // Part -> bool
	Judge    = "judge"    // Part
	Hook     = "hook"     // Hooked -> HookAnswer
	Release  = "release"  // ID of a session; a notice
	When     = "when"     // Happened -> bool
	Keys     = "keys"     // Happened -> []Ref
	External = "external" // Kind; runs the external sources of a kind until the call is cancelled
)

// What a child calls of its manager.
const (
	Get    = "get"    // Read -> Found
	List   = "list"   // Read -> Found
	Scope  = "scope"  // Kind -> text
	Kinds  = "kinds"  // text -> []Kind
	Own    = "own"    // Read
	Follow = "follow" // Read
	Delete = "delete" // Read
	Event  = "event"  // Recorded; a notice
	Log    = "log"    // Logged; a notice
	Bring  = "bring"  // Brought; a notice
	Known  = "known"  // Kind -> []Ref
	Failed = "failed" // Brought; a notice
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
