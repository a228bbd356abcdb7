package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/judge"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/status/readiness"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// verdict lists the objects of a component that aren't ready.
type verdict struct {
	waiting, failed listed
	// remarks are about objects that are ready in an unusual way.
	remarks []string
}

func (v verdict) ready() bool { return len(v.waiting) == 0 && len(v.failed) == 0 }

// err names the objects that aren't ready. It returns nil if the component is ready.
func (v verdict) err() error {
	switch {
	case len(v.failed) > 0:
		return v.failed
	case len(v.waiting) > 0:
		return &request.Error{Class: status.ErrorVerification, Err: v.waiting}
	}
	return nil
}

// listed are errors in one line.
type listed []error

// Error returns the texts, with semicolons between them.
func (l listed) Error() string {
	texts := make([]string, len(l))
	for i, err := range l {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap returns the errors.
func (l listed) Unwrap() []error { return l }

// Verify returns nil if every object of c is ready. If request.IsWaiting is true for the error, it names the objects
// that c waits for. Otherwise it names the objects that have failed.
func (c *Component) Verify(ctx context.Context) error {
	v, err := c.session.verify(ctx, c)
	if err != nil {
		return err
	}
	c.remark.Store(strings.Join(v.remarks, "; "))
	return v.err()
}

// verify decides which objects of c are ready.
func (s *Session) verify(ctx context.Context, c *Component) (verdict, error) {
	var v verdict
	rendered, err := s.render(ctx, c)
	if err != nil {
		return v, err
	}
	judging := s.judge()
	for i, o := range rendered.objects {
		ref, err := s.located(ctx, c, i, rendered.contents[i])
		if err != nil {
			return v, err
		}
		live, err := s.live(ctx, ref, o.judge != nil || len(o.and) > 0)
		if err != nil {
			return v, err
		}
		if o.judge == nil || live == nil {
			result, err := judging.Object(ctx, live)
			if err != nil {
				return v, fmt.Errorf("%s %s: %w", ref.Kind.Kind, ref.Name, err)
			}
			if v.add(ref, judging.Explain(ctx, live, result)); !result.Ready() {
				continue
			}
		}
		judged := o.judged(ctx, live)
		if request.Resolve(judged).Passing {
			return v, fmt.Errorf("%s %s: %w", ref.Kind.Kind, ref.Name, judged)
		}
		v.judged(ref, judged)
	}
	return v, nil
}

// judged calls the judges of an object that exists, up to the first error.
func (o *Object) judged(ctx context.Context, live *unstructured.Unstructured) error {
	judges := o.and
	if o.judge != nil {
		judges = append([]Judge{o.judge}, o.and...)
	}
	for _, judge := range judges {
		if err := failure.Guard(func() error { return judge(ctx, live) }); err != nil {
			return err
		}
	}
	return nil
}

// add records the result of one object.
func (v *verdict) add(ref deploy.Ref, result readiness.Result) {
	switch {
	case result.State == readiness.Failed:
		v.failed = append(v.failed, mistake(errors.New(describe(ref, result))))
	case !result.Ready():
		v.waiting = append(v.waiting, errors.New(describe(ref, result)))
	case result.Remark:
		v.remarks = append(v.remarks, describe(ref, result))
	}
}

// judge returns the judge.Judge of the session.
func (s *Session) judge() judge.Judge {
	j := judge.Judge{
		Checker: s.reconciler.options.readiness, Now: s.reconciler.now, Reader: s,
		Unreadable: func(message string, err error) {
			s.reconciler.classesUnread.Do(func() { s.logger.Warn(message, "error", err) })
		},
	}
	if view, ok := s.manager.View().(interface {
		Holds(kind schema.GroupVersionKind, namespace string) bool
	}); ok {
		j.Holds = view.Holds
	}
	return j
}

// live returns an object as the View has it, or as a plan predicts it; nil if there is none. If the View holds only the
// metadata of the kind, and readiness needs no more, live returns only the metadata, so that nothing is read from the
// cluster.
func (s *Session) live(ctx context.Context, ref deploy.Ref, content bool) (*unstructured.Unstructured, error) {
	content = content || s.reconciler.options.readiness.NeedsContent(ref.Kind.GroupKind())
	if predicted := s.predicted[ref]; predicted != nil && (!content || hasContent(predicted)) {
		return predicted, nil
	}
	view, ok := s.manager.View().(deploy.PartialView)
	if !ok || content {
		return s.manager.View().Get(ctx, ref)
	}
	obj, _, err := view.Partial(ctx, ref)
	return obj, err
}

// hasContent reports whether an object has more than its metadata.
func hasContent(obj *unstructured.Unstructured) bool {
	for key := range obj.Object {
		if key != "apiVersion" && key != "kind" && key != "metadata" {
			return true
		}
	}
	return false
}

// located returns the Ref of object i of c. If the object was applied, this is the Ref of the result.
func (s *Session) located(ctx context.Context, c *Component, i int, content *unstructured.Unstructured) (deploy.Ref, error) {
	if i < len(c.results) {
		return c.results[i].Ref, nil
	}
	return s.manager.Locate(ctx, content)
}

// judged records the error of a Judge.
func (v *verdict) judged(ref deploy.Ref, err error) {
	if err == nil {
		return
	}
	waits := request.IsWaiting(err)
	err = fmt.Errorf("%s %s: %w", ref.Kind.Kind, ref.Name, err)
	if waits {
		v.waiting = append(v.waiting, err)
	} else {
		v.failed = append(v.failed, err)
	}
}

func describe(ref deploy.Ref, result readiness.Result) string {
	return fmt.Sprintf("%s %s: %s (%s)", ref.Kind.Kind, ref.Name, result.State, cmp.Or(result.Message, result.Reason))
}
