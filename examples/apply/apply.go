package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/status/readiness"
	"github.com/operkit/operkit/status/readiness/known"
)

// run reads the files, and applies or compares them as the flags say.
func (s settings) run(ctx context.Context, stdin io.Reader, out io.Writer) error {
	if err := s.validate(); err != nil {
		return err
	}
	manifests, err := readAll(s.files, stdin)
	if err != nil {
		return err
	}
	if err := s.checkEmpty(manifests); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	m, err := s.connect(ctx)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return errInterrupted
	case err != nil:
		return err
	case s.diff:
		return s.showDiff(ctx, out, m, manifests)
	}
	return s.apply(ctx, out, m, manifests)
}

// checkEmpty returns an error if there are no objects, which usually means a wrong folder.
func (s settings) checkEmpty(manifests []manifest) error {
	places := strings.Join(s.files, ", ")
	switch {
	case len(manifests) > 0 || s.pruneAll:
		return nil
	case s.set != "":
		return fmt.Errorf("%s: no object is in there: if everything of the set %s is to be deleted, say --prune-all", places, s.set)
	}
	return fmt.Errorf("%s: no object is in there", places)
}

func (s settings) applySet() deploy.ApplySet {
	return deploy.ApplySet{
		Parent:   deploy.Ref{Namespace: s.namespace, Name: s.set},
		Tooling:  "operkit-apply/v1",
		PruneAll: s.pruneAll,
	}
}

func (s settings) apply(ctx context.Context, out io.Writer, m *deploy.Manager, manifests []manifest) error {
	t := newTable(manifests)
	progress := newProgress(out, t, s.wait)
	options := []deploy.Option{deploy.OnResult(progress.applied)}
	if s.wait {
		checker := readiness.Checker{Registry: known.Kinds()}
		options = append(options, deploy.WaitReady(func(obj *unstructured.Unstructured) bool {
			result := checker.Of(obj)
			progress.judged(deploy.RefOf(obj), result)
			return result.State == readiness.Ready
		}))
	}
	var err error
	if s.set != "" {
		var results deploy.SetResults
		results, err = m.ApplySet(ctx, s.applySet(), objectsOf(manifests), options...)
		progress.pruned(results.Pruned)
	} else {
		_, err = m.Apply(ctx, objectsOf(manifests), options...)
	}
	if failed := progress.end(); failed != nil {
		return failed
	}
	return s.outcome(ctx, m, t, err)
}

func (s settings) showDiff(ctx context.Context, out io.Writer, m *deploy.Manager, manifests []manifest) error {
	var differences deploy.Differences
	var err error
	if s.set != "" {
		differences, err = m.DiffSet(ctx, s.applySet(), objectsOf(manifests))
	} else {
		differences, err = m.Diff(ctx, objectsOf(manifests))
	}
	t := newTable(manifests)
	for _, one := range differences {
		t.row(one.Ref).take(one.Action, one.Err)
	}
	summary := t.summary()
	if differences.Changed() {
		summary = "would be: " + summary
	}
	if _, failed := fmt.Fprintf(out, "%s%s\n", differences, summary); failed != nil {
		return failed
	}
	return s.outcome(ctx, m, t, err)
}
