package wire

// Protocol is the number of the protocol. Another one can't be spoken.
const Protocol = 1

// What a manager calls of a child.
const (
	Hello    = "hello"    // Greeting -> Declaration
	Setup    = "setup"    // Session -> Described
	Render   = "render"   // Component -> []Object
	Content  = "content"  // Object of a component -> its content
	Gate     = "gate"     // Edge -> bool
	Judge    = "judge"    // Judged
	Hook     = "hook"     // Hooked -> HookAnswer
	Release  = "release"  // ID of a session; a notice
	When     = "when"     // Happened -> bool
	Keys     = "keys"     // Happened -> []Key
	External = "external" // Kind; runs the external sources of a kind until the call is cancelled
)

// What a child calls of its manager.
const (
	Get    = "get"    // Read -> content, or nothing
	List   = "list"   // Read -> []content
	Scope  = "scope"  // Kind -> text
	Kinds  = "kinds"  // text -> []Kind
	Own    = "own"    // Read
	Follow = "follow" // Read
	Delete = "delete" // Read
	Event  = "event"  // Recorded; a notice
	Log    = "log"    // Logged; a notice
	Bring  = "bring"  // Brought; a notice
	Known  = "known"  // Kind -> []Key
	Failed = "failed" // Brought; a notice
)

// The hooks of a controller, by the names of their methods.
const (
	Finalize                = "Finalize"
	AfterDeploy             = "AfterDeploy"
	AfterDeployUnsuccessful = "AfterDeployUnsuccessful"
	AfterVerify             = "AfterVerify"
	AfterVerifyUnsuccessful = "AfterVerifyUnsuccessful"
	Exhausted               = "Exhausted"
	Requeue                 = "Requeue"
)

// Greeting is the first that a manager says.
type Greeting struct {
	Protocol int    `cbor:"1,keyasint"`
	Version  string `cbor:"2,keyasint"`
	// Domain is that of the keys of annotations, NameObjects that of reconcile.NameObjects, FieldManager the name that objects are applied by.
	Domain       string `cbor:"3,keyasint"`
	FieldManager string `cbor:"4,keyasint"`
	NameObjects  bool   `cbor:"5,keyasint"`
	// Level is the lowest level of lines that the manager logs.
	Level int `cbor:"6,keyasint"`
}

// Declaration is what a child says of itself.
type Declaration struct {
	Protocol int `cbor:"1,keyasint"`
	// Release is the version that the child's program says it is, for messages.
	Release string  `cbor:"2,keyasint"`
	Kinds   []Ruled `cbor:"3,keyasint"`
}

// Ruled is one kind that a child has a controller for.
type Ruled struct {
	Kind  Kind     `cbor:"1,keyasint"`
	Scope string   `cbor:"2,keyasint,omitempty"`
	Hooks []string `cbor:"3,keyasint,omitempty"`
	// When tells that it filters the events of its resources.
	When     bool     `cbor:"4,keyasint,omitempty"`
	Owned    []Source `cbor:"5,keyasint,omitempty"`
	Mapped   []Source `cbor:"6,keyasint,omitempty"`
	External int      `cbor:"7,keyasint,omitempty"`
}

// Source is one kind that a controller declares; When tells that it filters its events.
type Source struct {
	Kind Kind `cbor:"1,keyasint"`
	When bool `cbor:"2,keyasint,omitempty"`
}

// Session begins a session.
type Session struct {
	ID       string         `cbor:"1,keyasint"`
	Kind     Kind           `cbor:"2,keyasint"`
	Resource map[string]any `cbor:"3,keyasint"`
	Version  string         `cbor:"4,keyasint"`
	DryRun   bool           `cbor:"5,keyasint,omitempty"`
}

// Described is what a Setup added.
type Described struct {
	// Instance tells the digests of one life of a child from those of others.
	Instance   string      `cbor:"1,keyasint"`
	Kinds      []Kind      `cbor:"2,keyasint"`
	Components []Component `cbor:"3,keyasint"`
}

// Component is one component.
type Component struct {
	Name     string `cbor:"1,keyasint"`
	Disabled bool   `cbor:"2,keyasint,omitempty"`
	// Built tells that its objects are to be asked for when its turn has come; else they are here, or why they aren't.
	Built   bool     `cbor:"3,keyasint,omitempty"`
	After   []Edge   `cbor:"4,keyasint,omitempty"`
	Objects []Object `cbor:"5,keyasint,omitempty"`
	Problem *Problem `cbor:"6,keyasint,omitempty"`
}

// Edge is one component that another waits for.
type Edge struct {
	Upstream string `cbor:"1,keyasint"`
	// Ready tells that one of its gates is reconcile.Ready, Asked that it has others.
	Ready bool `cbor:"2,keyasint,omitempty"`
	Asked bool `cbor:"3,keyasint,omitempty"`
}

// Object is one finished object.
type Object struct {
	_    struct{} `cbor:",toarray"`
	Name string
	// Kind is the number of its kind among those of the message.
	Kind           int
	Namespace, Ref string
	Digest         uint64
	Judged         bool
	// Content is given where there is no digest.
	Content map[string]any
}

// Objects are the objects of a component.
type Objects struct {
	Kinds   []Kind   `cbor:"1,keyasint"`
	Objects []Object `cbor:"2,keyasint"`
}

// Part names a part of a session: a component, one of its objects, or what it waits for.
type Part struct {
	Session   string `cbor:"1,keyasint"`
	Component string `cbor:"2,keyasint"`
	Object    string `cbor:"3,keyasint,omitempty"`
	Upstream  string `cbor:"4,keyasint,omitempty"`
	// Live is the object that is to be judged.
	Live map[string]any `cbor:"5,keyasint,omitempty"`
}

// Hooked calls a hook, or Finalize.
type Hooked struct {
	Session string   `cbor:"1,keyasint"`
	Hook    string   `cbor:"2,keyasint"`
	Failed  bool     `cbor:"3,keyasint,omitempty"`
	Outcome *Outcome `cbor:"4,keyasint,omitempty"`
	// Given is the error of Exhausted.
	Given *Problem `cbor:"5,keyasint,omitempty"`
}

// HookAnswer is what Requeue answers, in nanoseconds; zero of all others.
type HookAnswer struct {
	After int64 `cbor:"1,keyasint,omitempty"`
}

// Happened asks what an event means. Owned and Mapped are the number of the source, counted from 1; neither: it is about the resource.
type Happened struct {
	Kind   Kind           `cbor:"1,keyasint"`
	Owned  int            `cbor:"2,keyasint,omitempty"`
	Mapped int            `cbor:"3,keyasint,omitempty"`
	Type   string         `cbor:"4,keyasint"`
	Old    map[string]any `cbor:"5,keyasint,omitempty"`
	New    map[string]any `cbor:"6,keyasint"`
}

// Read asks for objects. Session is empty for one that belongs to none.
type Read struct {
	Session string `cbor:"1,keyasint,omitempty"`
	Ref     Ref    `cbor:"2,keyasint"`
	// Labels is a selector as text; Live reads past the store.
	Labels string `cbor:"3,keyasint,omitempty"`
	Fields string `cbor:"4,keyasint,omitempty"`
	Live   bool   `cbor:"5,keyasint,omitempty"`
	UID    string `cbor:"6,keyasint,omitempty"`
}

// Found are objects.
type Found struct {
	Contents []map[string]any `cbor:"1,keyasint"`
}

// Recorded is an event about a resource.
type Recorded struct {
	About  Ref    `cbor:"1,keyasint"`
	Type   string `cbor:"2,keyasint,omitempty"`
	Reason string `cbor:"3,keyasint"`
	Note   string `cbor:"4,keyasint"`
}

// Logged is a line for the log.
type Logged struct {
	Session string `cbor:"1,keyasint,omitempty"`
	Level   int    `cbor:"2,keyasint"`
	Text    string `cbor:"3,keyasint"`
	// Attributes are names and their texts, in turn.
	Attributes []string `cbor:"4,keyasint,omitempty"`
	// Time is in nanoseconds since 1970.
	Time int64 `cbor:"5,keyasint"`
}

// Brought is what an external source brings, or why it can't be read.
type Brought struct {
	Kind Kind   `cbor:"1,keyasint"`
	Keys []Ref  `cbor:"2,keyasint,omitempty"`
	Text string `cbor:"3,keyasint,omitempty"`
}
