package wire

// Read asks for objects. Session is empty for one that belongs to none.
type Read struct {
	Session string `cbor:"1,keyasint,omitempty"`
	Ref     Ref    `cbor:"2,keyasint"`
	// Labels is a selector as text; Live reads past the store.
	Labels string `cbor:"3,keyasint,omitempty"`
	Fields string `cbor:"4,keyasint,omitempty"`
	Live   bool   `cbor:"5,keyasint,omitempty"`
	// UID and Propagation are those of a deletion.
	UID         string `cbor:"6,keyasint,omitempty"`
	Propagation string `cbor:"7,keyasint,omitempty"`
}

// Found are objects.
type Found struct {
	Contents []map[string]any `cbor:"1,keyasint"`
}

// Recorded is an event about the resource of a session.
type Recorded struct {
	Session string `cbor:"1,keyasint"`
	Type    string `cbor:"2,keyasint,omitempty"`
	Reason  string `cbor:"3,keyasint"`
	Note    string `cbor:"4,keyasint"`
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
