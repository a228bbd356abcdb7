package reconcile

import "slices"

// ErrorClass says what an error means for the resource (spec: status 14). It is for those who pass errors on to where their types are lost,
// such as another process.
type ErrorClass string

// The classes, later ones more severe. An error that is in none of them is the operator's own.
const (
	// WaitsForPrecondition is that of Precondition, WaitsForReadiness that of something that was deployed and isn't ready yet.
	WaitsForPrecondition ErrorClass = "precondition"
	WaitsForReadiness    ErrorClass = "verification"
	// OfCluster: the cluster refused or didn't answer.
	OfCluster ErrorClass = "cluster"
	// OfConfiguration is that of Configuration.
	OfConfiguration ErrorClass = "configuration"
	// OfRollout: a component failed, or is described wrongly.
	OfRollout ErrorClass = "rollout"
	// OfOperator: everything else.
	OfOperator ErrorClass = "operator"
)

// errorClasses stand where the classes of the same number do.
var errorClasses = []ErrorClass{"", WaitsForPrecondition, WaitsForReadiness, OfCluster, OfConfiguration, OfRollout, OfOperator}

// ClassOf returns the class of err, none for nil: the outermost that has one decides, and among joined errors the most severe.
func ClassOf(err error) ErrorClass { return errorClasses[classOf(err)] }

// WithClass makes err, which it wraps, one of a class. nil stays nil; no class and one that doesn't exist change nothing.
func WithClass(of ErrorClass, err error) error {
	at := slices.Index(errorClasses, of)
	if err == nil || at <= 0 {
		return err
	}
	return &classified{class: class(at), err: err}
}
