package temporarypatch

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ConditionApplied is the condition of a patch that reports the result of its target's rendering.
const ConditionApplied = "Applied"

// The reasons of ConditionApplied.
const (
	// ReasonApplied: an object was patched for each place of the patch. The condition is True.
	ReasonApplied = "Applied"
	// ReasonPending: the target hasn't been rendered with this generation of the patch. The condition is Unknown.
	ReasonPending = "Pending"
	// ReasonUnmatched: no object was rendered for some places. The condition is False, as for all reasons below.
	ReasonUnmatched = "Unmatched"
	// ReasonFailed: the patch doesn't fit an object.
	ReasonFailed = "Failed"
	// ReasonExpired: the patch has expired and was removed from the target.
	ReasonExpired = "Expired"
	// ReasonNoTarget: the target doesn't exist.
	ReasonNoTarget = "NoTarget"
)

// verdict is the content of the status of a patch.
type verdict struct {
	metav1.Condition
	matched, unmatched []string
	// keep: if the status has a report for the same generation, that report is kept.
	keep bool
}

func (c *Controller) verdict(patch *TemporaryPatch, exists, over bool) verdict {
	known, ok := c.board.look(patch.UID, patch.Generation)
	v := verdict{Condition: metav1.Condition{Type: ConditionApplied, Status: metav1.ConditionFalse, ObservedGeneration: patch.Generation}}
	awaited := false
	switch {
	case over:
		v.Reason, v.Message = ReasonExpired, "expired at "+timestamp(patch.Spec.ExpiresAt.Time)
	case !exists:
		v.Reason, v.Message = ReasonNoTarget, fmt.Sprintf("there is no %s %s", patch.Spec.Kind, patch.Spec.Name)
	case !ok:
		awaited, v.keep = true, true
		v.Status, v.Reason, v.Message = metav1.ConditionUnknown, ReasonPending, "the target hasn't been rendered with this patch yet"
	case len(known.failed) > 0:
		awaited = true
		v.matched, v.unmatched = known.matched, known.unmatched
		v.Reason, v.Message = ReasonFailed, failures(known.failed)
	case len(known.unmatched) > 0:
		awaited = true
		v.matched, v.unmatched = known.matched, known.unmatched
		v.Reason, v.Message = ReasonUnmatched, "no object was rendered for "+strings.Join(known.unmatched, ", ")
	default:
		v.matched = known.matched
		v.Status, v.Reason, v.Message = metav1.ConditionTrue, ReasonApplied, "patched "+strings.Join(known.matched, ", ")
	}
	c.board.await(patch.UID, patch.Generation, awaited, c.options.now())
	return v
}

func failures(failed map[string]string) string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		texts = append(texts, name+": "+failed[name])
	}
	return strings.Join(texts, "; ")
}

// report writes a verdict into the status of the patch. Other fields of the status are left alone: the reconcile writes
// them.
func (c *Controller) report(ctx context.Context, ref deploy.Ref, patch *TemporaryPatch, v verdict) error {
	return c.setStatus(ctx, ref, v.Condition, func(current *unstructured.Unstructured) bool {
		return current.GetUID() != patch.UID || v.keep && reportedBefore(current, patch.Generation)
	}, map[string][]string{"matched": v.matched, "unmatched": v.unmatched})
}

// setStatus sets a condition, and lists of names, in the status of a patch, unless keep is true for the present patch.
// A condition without a generation gets the present one.
func (c *Controller) setStatus(ctx context.Context, ref deploy.Ref, condition metav1.Condition, keep func(*unstructured.Unstructured) bool, lists map[string][]string) error {
	_, err := c.manager.SetStatus(ctx, ref, func(current *unstructured.Unstructured) (map[string]any, error) {
		if keep(current) {
			present, _ := current.Object["status"].(map[string]any)
			return present, nil
		}
		next := current.DeepCopy()
		conditions := status.Conditions(next)
		condition.ObservedGeneration = cmp.Or(condition.ObservedGeneration, current.GetGeneration())
		conditions.Set(c.options.now(), condition)
		if err := conditions.Err(); err != nil {
			return nil, err
		}
		for field, names := range lists {
			unstructured.RemoveNestedField(next.Object, "status", field)
			if len(names) == 0 {
				continue
			}
			if err := unstructured.SetNestedStringSlice(next.Object, names, "status", field); err != nil {
				return nil, err
			}
		}
		written, _ := next.Object["status"].(map[string]any)
		return written, nil
	})
	return err
}

// reportedBefore reports whether an earlier process has reported the result of this generation.
func reportedBefore(current *unstructured.Unstructured, generation int64) bool {
	condition, ok := status.Conditions(current).Get(ConditionApplied)
	return ok && condition.ObservedGeneration == generation &&
		(condition.Reason == ReasonApplied || condition.Reason == ReasonUnmatched || condition.Reason == ReasonFailed)
}
