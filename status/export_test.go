package status

// What tests tell apart.
var (
	ErrInvalidType       = errInvalidType
	ErrInvalidStatus     = errInvalidStatus
	ErrInvalidReason     = errInvalidReason
	ErrInvalidGeneration = errInvalidGeneration
	ErrInvalidKind       = errInvalidKind
)

const MaxMessageLength = maxMessageLength
