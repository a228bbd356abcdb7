package dag

// Outcome is how a node ended. The zero value is that of a node which was never started.
type Outcome uint8

// The outcomes. Each is that of one of the sets of a [State].
const (
	OutcomeUnstarted Outcome = iota
	OutcomeVerified
	OutcomeUnverified
	OutcomeFailed
	outcomes = iota
)

// String is the outcome in a word, such as "verified".
func (o Outcome) String() string {
	if o >= outcomes {
		return "unknown"
	}
	return [outcomes]string{"unstarted", "verified", "unverified", "failed"}[o]
}
