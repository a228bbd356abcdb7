package traps

import (
	"context"
	"fmt"
	"time"

	v1 "github.com/operkit/operkit/tools/bench/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// absences are the times between a deletion of the Bundle and its recreation. They differ so that the garbage collector
// has got to different points.
var absences = []time.Duration{0, 50 * time.Millisecond, 300 * time.Millisecond}

// recreated: the Bundle is deleted, and another one with the same name is created at once, while the children still
// exist.
func recreated(ctx context.Context, s *scene) (answer, error) {
	if err := s.create(ctx); err != nil {
		return answer{}, err
	}
	slowest, left := time.Duration(0), []int{}
	for _, absence := range absences {
		before, err := s.uids(ctx)
		if err != nil {
			return answer{}, err
		}
		took, err := s.recreate(ctx, absence)
		if err != nil {
			return answer{}, err
		}
		slowest = max(slowest, took)
		now, err := s.uids(ctx)
		if err != nil {
			return answer{}, err
		}
		left = append(left, shared(before, now))
		problem, err := s.completed(ctx)
		if err != nil || problem != "" {
			return answer{false, problem}, err
		}
	}
	if slowest > time.Second {
		return answer{}, fmt.Errorf("the Bundle was there again only after %s: the machine is too busy to ask this", slowest)
	}
	return answer{true, fmt.Sprintf(
		"created again %.2f s after its deletion at the latest, %d times, when %v children of the old one were there: "+
			"each time all five come to belong to the new one alone, which is Ready at its generation",
		slowest.Seconds(), len(absences), left)}, nil
}

// recreate deletes the Bundle and creates it again, and returns how long that took.
func (s *scene) recreate(ctx context.Context, absence time.Duration) (time.Duration, error) {
	began := time.Now()
	if err := s.bundles.Delete(ctx, s.bundle, metav1.DeleteOptions{}); err != nil {
		return 0, err
	}
	if err := pause(ctx, absence); err != nil {
		return 0, err
	}
	err := await(ctx, enough, func(ctx context.Context) (bool, error) {
		err := s.post(ctx)
		if apierrors.IsAlreadyExists(err) {
			return false, nil
		}
		return err == nil, err
	}, func() string { return "the deleted Bundle is still there" })
	return time.Since(began), err
}

// uids returns the uids of the existing children.
func (s *scene) uids(ctx context.Context) (map[types.UID]bool, error) {
	uids := map[types.UID]bool{}
	for _, o := range s.descendants() {
		live, err := s.metadataOf(ctx, o)
		if err != nil {
			return nil, err
		}
		if live != nil {
			uids[live.UID] = true
		}
	}
	return uids, nil
}

// shared is how many keys two maps have in common.
func shared(a, b map[types.UID]bool) (count int) {
	for key := range a {
		if b[key] {
			count++
		}
	}
	return count
}

// completed waits until the Bundle is complete, and checks a while later that it still is. It returns the problem, if
// any.
func (s *scene) completed(ctx context.Context) (problem string, err error) {
	if err := await(ctx, 2*enough, func(ctx context.Context) (done bool, err error) {
		problem, err = s.incomplete(ctx)
		return problem == "", err
	}, func() string { return problem }); err != nil {
		return "", err
	}
	if err := s.awaitRest(ctx); err != nil {
		return "", err
	}
	// The garbage collector may still delete objects a while later.
	if err := pause(ctx, quiet); err != nil {
		return "", err
	}
	if problem, err = s.incomplete(ctx); problem != "" {
		problem = "it was complete and then not any more: " + problem
	}
	return problem, err
}

// incomplete returns what the Bundle lacks, or "" if it is complete.
func (s *scene) incomplete(ctx context.Context) (string, error) {
	bundle, err := s.get(ctx)
	if err != nil {
		return "", err
	}
	for _, o := range s.descendants() {
		live, err := s.metadataOf(ctx, o)
		if err != nil {
			return "", err
		}
		if problem := misplaced(live, bundle); problem != "" {
			return fmt.Sprintf("the %s %s; %s", o.what, problem, said(bundle, o.name)), nil
		}
	}
	if !isReady(bundle) {
		return "the Bundle isn't Ready: " + said(bundle, ""), nil
	}
	return "", nil
}

// misplaced returns why a child doesn't belong to a Bundle, or "" if it does.
func misplaced(child *metav1.PartialObjectMetadata, bundle *v1.Bundle) string {
	switch {
	case child == nil:
		return "isn't there"
	case child.DeletionTimestamp != nil:
		return "is being deleted"
	case len(child.OwnerReferences) != 1 || child.OwnerReferences[0].UID != bundle.UID:
		return "doesn't belong to it alone"
	}
	return ""
}
