package deploytest

import (
	"context"
	"errors"
	"time"

	"github.com/operkit/operkit/deploy"
)

// requests are one call of each method that asks the cluster about an object that exists.
func (s *scene) requests(ctx context.Context) map[string]func() error {
	obj := s.create("operkit", s.settings("{a: '1'}"))
	fresh, ref := s.settings("{a: '2'}"), deploy.RefOf(obj)
	return map[string]func() error{
		"Get": func() error { _, err := s.port().Get(ctx, ref); return err },
		"List": func() error {
			_, err := s.port().List(ctx, configMap, s.Namespace, deploy.ListOptions{})
			return err
		},
		"Create": func() error {
			_, err := s.port().Create(ctx, s.config("new", "{}"), deploy.CreateOptions{})
			return err
		},
		"Update": func() error { _, err := s.port().Update(ctx, obj, deploy.UpdateOptions{}); return err },
		"Apply": func() error {
			_, err := s.port().Apply(ctx, fresh, deploy.ApplyOptions{FieldManager: "operkit", Force: true})
			return err
		},
		"Patch":  func() error { _, err := s.port().Patch(ctx, ref, merging("operkit", `{"data":{"a":"3"}}`)); return err },
		"Delete": func() error { return s.port().Delete(ctx, ref, deploy.DeleteOptions{}) },
	}
}

var contextCases = []Case{
	{"contexts/cancelled", "who gives up is told so, isn't told to try again, and did nothing", func(s *scene) {
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(s.Context())
		requests := s.requests(ctx)
		cancel(why)
		for method, request := range requests {
			err := request()
			var unavailable *deploy.UnavailableError
			s.is(errors.Is(err, context.Canceled) && errors.Is(err, why) && !errors.As(err, &unavailable), "%s: %v (%T)", method, err, err)
		}
		equal(s, "1", data(s.get(deploy.RefOf(s.settings("{}"))))["a"], "a")
		s.absent(deploy.RefOf(s.config("new", "{}")))
	}},
	{"contexts/too late", "whose time is over is told so, and did nothing", func(s *scene) {
		ctx, cancel := context.WithDeadline(s.Context(), time.Now().Add(-time.Second))
		defer cancel()
		for method, request := range s.requests(ctx) {
			err := request()
			var late *deploy.TimeoutError
			s.is(errors.As(err, &late) && errors.Is(err, context.DeadlineExceeded), "%s: %v (%T)", method, err, err)
		}
		equal(s, "1", data(s.get(deploy.RefOf(s.settings("{}"))))["a"], "a")
	}},
}
