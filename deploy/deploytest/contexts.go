package deploytest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// requests returns a call of each method of a Port that takes an object or a reference. read is an object that was
// read, wanted is an intent for the same object, and fresh is an object that doesn't exist yet.
func requests(ctx context.Context, port deploy.Port, read, wanted, fresh *unstructured.Unstructured) map[string]func() error {
	ref := deploy.RefOf(read)
	return map[string]func() error{
		"Get": func() error { _, err := port.Get(ctx, ref); return err },
		"List": func() error {
			_, err := port.List(ctx, ref.Kind, ref.Namespace, deploy.ListOptions{})
			return err
		},
		"Create": func() error { _, err := port.Create(ctx, fresh, deploy.CreateOptions{}); return err },
		"Update": func() error { _, err := port.Update(ctx, read, deploy.UpdateOptions{}); return err },
		"Apply": func() error {
			_, err := port.Apply(ctx, wanted, deploy.ApplyOptions{FieldManager: "operkit", Force: true})
			return err
		},
		"Patch":  func() error { _, err := port.Patch(ctx, ref, merging("operkit", `{"data":{"a":"3"}}`)); return err },
		"Delete": func() error { return port.Delete(ctx, ref, deploy.DeleteOptions{}) },
	}
}

// requests returns the calls for an object that exists.
func (s *scene) requests(ctx context.Context) map[string]func() error {
	return requests(ctx, s.port(), s.create("operkit", s.settings("{a: '1'}")), s.settings("{a: '2'}"), s.config("new", "{}"))
}

var contextCases = []Case{
	{"contexts/cancelled", "a cancelled request returns the context's error, not an UnavailableError, and changes nothing", func(s *scene) {
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(s.Context())
		requests := s.requests(ctx)
		cancel(why)
		for method, request := range requests {
			err := request()
			s.is(errors.Is(err, context.Canceled) && errors.Is(err, why) && !isA[*deploy.UnavailableError](err), "%s: %v (%T)", method, err, err)
		}
		equal(s, "1", data(s.get(deploy.RefOf(s.settings("{}"))))["a"], "a")
		s.absent(deploy.RefOf(s.config("new", "{}")))
	}},
	{"contexts/too late", "a request after its deadline returns a TimeoutError and changes nothing", func(s *scene) {
		ctx, cancel := context.WithDeadline(s.Context(), time.Now().Add(-time.Second))
		defer cancel()
		for method, request := range s.requests(ctx) {
			err := request()
			s.is(isA[*deploy.TimeoutError](err) && errors.Is(err, context.DeadlineExceeded), "%s: %v (%T)", method, err, err)
		}
		equal(s, "1", data(s.get(deploy.RefOf(s.settings("{}"))))["a"], "a")
	}},
}

// atOnce calls try n times concurrently and returns the error of each call.
func atOnce(n int, try func(i int) error) []error {
	outcomes := make([]error, n)
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() { outcomes[i] = try(i) })
	}
	running.Wait()
	return outcomes
}

// wins fails the case unless exactly one call succeeded and all others returned an E.
func wins[E error](s *scene, outcomes []error) {
	s.Helper()
	won := 0
	for _, err := range outcomes {
		switch {
		case err == nil:
			won++
		case !isA[E](err):
			s.Errorf("a call that failed returned %v (%T)", err, err)
		}
	}
	equal(s, 1, won, "calls that succeeded")
}

var concurrentCases = []Case{
	{"at once/creations", "exactly one of many concurrent creations succeeds", func(s *scene) {
		wins[*deploy.AlreadyExistsError](s, atOnce(20, func(i int) error {
			_, err := s.port().Create(s.Context(), s.settings("{a: '"+strconv.Itoa(i)+"'}"), deploy.CreateOptions{})
			return err
		}))
	}},
	{"at once/updates", "exactly one of many concurrent updates of one version succeeds", func(s *scene) {
		obj := s.create("operkit", s.settings("{a: '1'}"))
		wins[*deploy.StaleError](s, atOnce(20, func(i int) error {
			_, err := s.port().Update(s.Context(), with(obj, map[string]any{"a": "x" + strconv.Itoa(i)}), deploy.UpdateOptions{})
			return err
		}))
	}},
	{"at once/deletions", "exactly one of many concurrent deletions succeeds", func(s *scene) {
		obj := s.create("operkit", s.settings("{a: '1'}"))
		wins[*deploy.NotFoundError](s, atOnce(20, func(int) error {
			return s.port().Delete(s.Context(), deploy.RefOf(obj), deploy.DeleteOptions{UID: obj.GetUID()})
		}))
	}},
	{"at once/managers", "concurrent workers of one operator leave all objects as intended", func(s *scene) {
		m, _ := s.manager()
		for _, err := range atOnce(10, func(i int) error {
			objects := []*unstructured.Unstructured{}
			for k := range 10 {
				objects = append(objects, s.config(fmt.Sprintf("of-%d-%d", i, k), "{a: '1'}"))
			}
			results, err := m.Apply(s.Context(), objects)
			if err == nil && !results.Changed() {
				err = errors.New("nothing was changed")
			}
			return err
		}) {
			s.is(err == nil, "unexpected error: %v", err)
		}
		s.settles(s.config("of-9-9", "{a: '1'}"))
	}},
	{"at once/statuses", "several managers of one status write it at the same time, and none of them loses a condition", func(s *scene) {
		const managers, rounds = 6, 5
		ref := deploy.RefOf(s.create("operkit", s.widget("{size: 1}")))
		s.watch(widget)
		for _, err := range atOnce(managers, func(i int) error {
			m := s.managerOf(s.Cluster, deploy.FieldManager("manager-"+strconv.Itoa(i)))
			for round := 1; round <= rounds; round++ {
				_, err := m.ApplyStatus(s.Context(), ref, func(*unstructured.Unstructured) (map[string]any, error) {
					return map[string]any{"conditions": []any{map[string]any{"type": strconv.Itoa(i), "status": strconv.Itoa(round)}}}, nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		}) {
			s.ok(err)
		}
		conditions, _, err := unstructured.NestedSlice(s.get(ref).Object, "status", "conditions")
		s.ok(err)
		equal(s, managers, len(conditions), "conditions")
		for _, condition := range conditions {
			equal(s, any(strconv.Itoa(rounds)), condition.(map[string]any)["status"], "status of the last round")
		}
	}},
	{"at once/many objects", "a long list is complete, however many pages it has", func(s *scene) {
		const many = 520
		for _, err := range atOnce(4, func(i int) error {
			for k := i; k < many; k += 4 {
				obj := labelled(s.config(fmt.Sprintf("many-%03d", k), "{}"), "many", "yes")
				if _, err := s.port().Create(s.Context(), obj, deploy.CreateOptions{}); err != nil {
					return err
				}
			}
			return nil
		}) {
			s.ok(err)
		}
		found := names(s.list(deploy.ListOptions{Labels: s.selecting("many")}))
		equal(s, many, len(found), "objects")
		for k, name := range found {
			equal(s, fmt.Sprintf("many-%03d", k), name, "name")
		}
	}},
}
