package readiness

import (
	"cmp"
	"fmt"

	"github.com/operkit/operkit/status/internal/condition"
)

// claim is the row PersistentVolumeClaim. A bound claim is usable, so it is Ready even while its volume changes. A file
// system often grows only when the Pod that uses it restarts, and this Pod may be waiting for the claim.
func claim(s subject) Result {
	switch s.phase() {
	case "Lost":
		return failed("ClaimLost", "the volume of the claim is lost", statusPhase)
	case "Pending":
		return pendingClaim(&s)
	case "Bound":
		return boundClaim(&s)
	}
	return s.otherPhase()
}

// pendingClaim returns Ready for a claim that is bound only when a Pod uses it. The claim is Ready even while its
// volume is being provisioned for a Pod: if the Pod has a problem, the components that wait for the claim may contain
// the fix.
func pendingClaim(s *subject) Result {
	if volume := condition.Text(s.spec, "volumeName"); volume != "" {
		return inProgress("ClaimPending", fmt.Sprintf("the claim isn't bound yet: it waits for the volume %q", volume), statusPhase, "spec.volumeName")
	}
	if !s.waitsForConsumer() {
		return inProgress("ClaimPending", "the claim isn't bound yet", statusPhase)
	}
	const reason = "WaitForFirstConsumer"
	if node := s.annotation("volume.kubernetes.io/selected-node"); node != "" {
		return remark(reason, fmt.Sprintf("%s: a volume for node %q is being provisioned", reason, node), statusPhase, "spec.storageClassName")
	}
	return remark(reason, reason+": the claim is bound when a Pod uses it", statusPhase, "spec.storageClassName")
}

// volumeChanges are the conditions that a claim has while its volume changes, the more specific ones first.
var volumeChanges = [...]struct{ condition, text string }{
	{"ControllerResizeError", "the volume can't be resized"},
	{"NodeResizeError", "the file system of the volume can't be resized"},
	{"ModifyVolumeError", "the volume can't be modified"},
	{"FileSystemResizePending", "the volume is being resized: its file system grows when a Pod mounts it"},
	{"Resizing", "the volume is being resized"},
	{"ModifyingVolume", "the volume is being modified"},
}

func boundClaim(s *subject) Result {
	for _, change := range volumeChanges {
		if v := s.condition(change.condition); v.isTrue() {
			message := change.text
			if v.message != "" {
				message += ": " + v.message
			}
			return remark(change.condition, message, statusPhase, field(change.condition))
		}
	}
	return ready("ClaimBound", "the claim is bound", statusPhase)
}

// classAnnotation holds the storage class of old claims, from before spec.storageClassName. It has precedence over the
// field.
const classAnnotation = "volume.beta.kubernetes.io/storage-class"

// waitsForConsumer reports whether the claim's class binds volumes only when a Pod uses them. A claim with the empty
// class wants a volume without a class: the default class doesn't apply to it.
func (s *subject) waitsForConsumer() bool {
	if s.checker.WaitsForConsumer == nil {
		return false
	}
	if class := s.annotation(classAnnotation); class != "" {
		return s.checker.WaitsForConsumer(class)
	}
	if class, stated := s.spec["storageClassName"]; stated && class == "" {
		return false
	}
	return s.checker.WaitsForConsumer(condition.Text(s.spec, "storageClassName"))
}

// volume is the row PersistentVolume.
func volume(s subject) Result {
	words := cmp.Or(condition.Text(s.status, "message"), condition.Text(s.status, "reason"))
	switch phase := s.phase(); phase {
	case "Failed":
		return failed("VolumeFailed", cmp.Or(words, "the volume couldn't be reclaimed"), statusPhase)
	case "Pending":
		return inProgress("VolumePending", cmp.Or(words, "the volume isn't available yet"), statusPhase)
	case "Available", "Bound", "Released":
		return ready("Volume"+phase, "the volume is there", statusPhase)
	}
	return s.otherPhase()
}
