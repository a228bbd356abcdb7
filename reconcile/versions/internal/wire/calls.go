package wire

// Hooked calls a hook, or Finalize.
type Hooked struct {
	Session string   `cbor:"1,keyasint"`
	Hook    string   `cbor:"2,keyasint"`
	Failed  bool     `cbor:"3,keyasint,omitempty"`
	Outcome *Outcome `cbor:"4,keyasint,omitempty"`
	// Given is the error of Exhausted.
	Given *Problem `cbor:"5,keyasint,omitempty"`
}

// HookAnswer is the answer of a hook: After, in nanoseconds, that of Requeue, and Described that of Finalize, nil if it
// has added no components.
type HookAnswer struct {
	After     int64      `cbor:"1,keyasint,omitempty"`
	Described *Described `cbor:"2,keyasint,omitempty"`
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
