package readiness

import "fmt"

// maxCauses is how many other objects a message gives as the cause.
const maxCauses = 2

// Because returns r with the messages of those others that aren't Ready beside its own, the worst first and two at
// most: the Pods and claims of a workload, say, which know better what the workload waits for. State, Reason and Object
// are r's. A Ready r is returned as it is. Nothing is changed.
func (r Result) Because(others ...Result) Result {
	if r.Ready() {
		return r
	}
	blockers := All(others...).Blockers
	for i, blocker := range blockers[:min(maxCauses, len(blockers))] {
		words := fmt.Sprintf("%s %s: %s", blocker.Object.Kind, blocker.Object.Name, says(blocker.Message, blocker.Reason))
		if i == 0 {
			r.Message += ": " + words
		} else {
			r.Message += "; " + words
		}
	}
	return r
}
