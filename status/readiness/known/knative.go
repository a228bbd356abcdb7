package known

import "github.com/operkit/operkit/status/readiness"

// service is the row of Knative's Service. Ready is Unknown while Knative works, and False when it can't go on: the
// image can't be pulled, the container ends, a name is taken. Its message comes from the Configuration or the Route.
//
// Lifecycle: https://github.com/knative/serving/blob/main/pkg/apis/serving/v1/service_lifecycle.go
// Conditions: https://github.com/knative/specs/blob/main/specs/serving/knative-api-specification-1.0.md#error-signalling
func service(o object) readiness.Result {
	isReady := o.condition("Ready")
	if !isReady.holds() {
		return isReady.unless()
	}
	return isReady.done()
}
