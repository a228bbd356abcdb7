package wire

// Session begins a session.
type Session struct {
	ID       string         `cbor:"1,keyasint"`
	Kind     Kind           `cbor:"2,keyasint"`
	Resource map[string]any `cbor:"3,keyasint"`
	Version  string         `cbor:"4,keyasint"`
	DryRun   bool           `cbor:"5,keyasint,omitempty"`
	// Level is the lowest level of lines that may be logged of it.
	Level int `cbor:"6,keyasint,omitempty"`
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
