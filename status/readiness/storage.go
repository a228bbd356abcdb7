package readiness

import (
	"github.com/operkit/operkit/status/internal/condition"
)

// claim is the row PersistentVolumeClaim.
func claim(s subject) Result {
	switch phase := s.phase(); phase {
	case "Lost":
		return failed("ClaimLost", "the volume of the claim is lost", statusPhase)
	case "Pending":
		if s.waitsForConsumer() {
			return ready("WaitForFirstConsumer", "the claim is bound when a Pod uses it", statusPhase, "spec.storageClassName")
		}
		return inProgress("ClaimPending", "the claim isn't bound yet", statusPhase)
	}
	for _, conditionType := range [...]string{"FileSystemResizePending", "Resizing"} {
		if v := s.condition(conditionType); v.isTrue() {
			return inProgress(conditionType, says(v.message, "the volume is being resized"), field(conditionType))
		}
	}
	if s.phase() == "Bound" {
		return ready("ClaimBound", "the claim is bound", statusPhase)
	}
	return s.otherPhase()
}

// waitsForConsumer asks of the claim's class whether it binds late. A claim that
// names the empty class wants a volume without one: it isn't of the default one.
func (s *subject) waitsForConsumer() bool {
	class, stated := s.spec["storageClassName"]
	if stated && class == "" || s.checker.WaitsForConsumer == nil {
		return false
	}
	return s.checker.WaitsForConsumer(condition.Text(s.spec, "storageClassName"))
}

// volume is the row PersistentVolume.
func volume(s subject) Result {
	switch phase := s.phase(); phase {
	case "Failed":
		return failed("VolumeFailed", says(condition.Text(s.status, "message"), "the volume couldn't be reclaimed"), statusPhase)
	case "Pending":
		return inProgress("VolumePending", says(condition.Text(s.status, "message"), "the volume isn't available yet"), statusPhase)
	case "Available", "Bound", "Released":
		return ready("Volume"+phase, "the volume is there", statusPhase)
	}
	return s.otherPhase()
}
