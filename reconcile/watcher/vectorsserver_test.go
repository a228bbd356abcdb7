package watcher

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/vectortest"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/reconcile/watcher/internal/work"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The finalizers of the cases.
const (
	ours = "OURS"
	wip  = "WIP"
)

var errPatch = errors.New("patch failed")

// server is the cluster of a case: one object, and scripted answers to the first patches. A View may show an older
// state.
type server struct {
	deploy.Cluster
	object, seen *unstructured.Unstructured
	isGone       bool
	script       []string
	patches      int
}

type serverView struct {
	deploy.View
	*server
}

func (v serverView) Get(context.Context, deploy.Ref) (*unstructured.Unstructured, error) {
	if v.seen != nil {
		return v.seen, nil
	}
	return v.present(), nil
}

type serverPort struct {
	deploy.Port
	*server
}

func (s *server) View() deploy.View { return serverView{s.Cluster.View(), s} }
func (s *server) Port() deploy.Port { return serverPort{s.Cluster.Port(), s} }

func (s *server) present() *unstructured.Unstructured {
	if s.isGone || s.object == nil {
		return nil
	}
	return s.object
}

func (p serverPort) Get(context.Context, deploy.Ref) (*unstructured.Unstructured, error) {
	return p.present(), nil
}

// set changes the object on the server.
func (s *server) set(change func(o *unstructured.Unstructured)) {
	s.object = s.object.DeepCopy()
	change(s.object)
	s.object.SetResourceVersion(s.object.GetResourceVersion() + "+")
}

// Patch implements deploy.Port: it sets the finalizers, if the resourceVersion is right.
func (p serverPort) Patch(_ context.Context, ref deploy.Ref, patch deploy.PatchRequest) (*unstructured.Unstructured, error) {
	s := p.server
	s.patches++
	answer := "ok"
	if len(s.script) > 0 {
		answer, s.script = s.script[0], s.script[1:]
	}
	switch answer {
	case "error":
		return nil, errPatch
	case "conflict-other-added":
		s.set(func(o *unstructured.Unstructured) { o.SetFinalizers(append(o.GetFinalizers(), "other.test/new")) })
	case "conflict-ours-gone":
		s.set(func(o *unstructured.Unstructured) {
			o.SetFinalizers(slices.DeleteFunc(o.GetFinalizers(), func(name string) bool { return name == ours }))
		})
	case "stripped": // a webhook removes the finalizers
		s.set(func(*unstructured.Unstructured) {})
		return s.object, nil
	case "conflict":
		s.set(func(*unstructured.Unstructured) {})
	}
	var body struct {
		Metadata struct {
			ResourceVersion string    `json:"resourceVersion"`
			Finalizers      *[]string `json:"finalizers"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(patch.Body, &body); err != nil {
		return nil, err
	}
	s.seen = nil
	if s.isGone {
		return nil, &deploy.NotFoundError{Ref: ref}
	}
	if body.Metadata.ResourceVersion != s.object.GetResourceVersion() {
		return nil, &deploy.StaleError{Ref: ref}
	}
	s.set(func(o *unstructured.Unstructured) {
		var finalizers []string
		if body.Metadata.Finalizers != nil {
			finalizers = *body.Metadata.Finalizers
		}
		o.SetFinalizers(finalizers)
	})
	s.isGone = s.object.GetDeletionTimestamp() != nil && len(s.object.GetFinalizers()) == 0
	return s.object, nil
}

// steps plays the steps of a case of the finalizer machine.
type steps struct {
	*play
	server *server
	member *member
	fails  map[string]any
	calls  []string
	memo   any
	state  any
	object *unstructured.Unstructured
	script []map[string]any
	// succeeded: the handler of the last step has succeeded, and only the write after it failed.
	succeeded bool
	// lastError is the error of the last step.
	lastError error
}

func newSteps(t *testing.T, input map[string]any) *steps {
	s := &steps{play: &play{t: t, input: input, lives: map[deploy.Ref]int{}}, server: &server{}}
	memory, err := dryrun.New(dryrun.AnyKind())
	require.NoError(t, err)
	s.server.Cluster = memory
	s.fails, _ = input["handlers"].(map[string]any)
	s.script = listOf(input["script"])
	script, _ := input["patch"].([]any)
	for _, answer := range script {
		s.server.script = append(s.server.script, answer.(string))
	}
	manager, err := deploy.NewManager(s.server)
	require.NoError(t, err)
	var added Option
	if input["kind"] == "opinionated-reconciler" {
		added = AddReconciler("w", s.reconcile, Finalizer(ours))
	} else {
		added = Add("w", Opinionate(s.funcs(), Finalizer(ours), InProgress(wip)))
	}
	watchers := New[unstructured.Unstructured](items, added)
	reconciler, err := watchers.Reconciler(t.Context(), watch.Env{Manager: manager, Logger: slog.New(slog.DiscardHandler), Now: time.Now})
	require.NoError(t, err)
	s.member = watchers.roster.list()[0]
	s.server.object = nil
	s.play.reconciler = reconciler
	return s
}

func (s *steps) funcs() Funcs[unstructured.Unstructured] {
	do := func(name string, o *unstructured.Unstructured) error {
		s.calls = append(s.calls, fmt.Sprintf("%s %d", name, o.GetGeneration()))
		switch s.fails[name] {
		case "fail-once":
			s.fails[name] = nil
		case "fail":
		default:
			return nil
		}
		return errors.New("handler failed")
	}
	f := Funcs[unstructured.Unstructured]{
		Add:    func(_ context.Context, o *unstructured.Unstructured) error { return do("add", o) },
		Update: func(_ context.Context, _, o *unstructured.Unstructured) error { return do("update", o) },
		Delete: func(_ context.Context, o *unstructured.Unstructured) error { return do("delete", o) },
		Sync:   func(_ context.Context, o *unstructured.Unstructured) error { return do("sync", o) },
	}
	if s.input["wrap"] == "sync-to-add" {
		f = Wrap(Simple(f), true)
	}
	for name, how := range s.fails {
		if how != "nil" {
			continue
		}
		switch name {
		case "add":
			f.Add = nil
		case "update":
			f.Update = nil
		case "delete":
			f.Delete = nil
		case "sync":
			f.Sync = nil
		}
	}
	return f
}

func (s *steps) reconcile(_ context.Context, r Request[unstructured.Unstructured]) (result Result, err error) {
	s.calls = append(s.calls, fmt.Sprintf("%s %d", r.Action, r.Object.GetGeneration()))
	if len(s.script) > 0 {
		answer := s.script[0]
		s.script = s.script[1:]
		if _, fails := answer["error"].(string); fails {
			err = errors.New("handler failed")
		}
		if after, asks := answer["requeue_s"]; asks && after != nil {
			result.RequeueAfter = max(seconds(after), time.Nanosecond)
		}
		result.State = answer["state"]
	}
	return result, err
}

// step makes one step, and returns its outcome.
func (s *steps) step(step map[string]any) work.Outcome {
	s.server.seen, s.calls = nil, nil
	c := work.Call{Action: map[any]work.Action{"add": Created, "update": Updated, "delete": Deleted, "resync": Resynced}[step["call"]]}
	if step["same_object"] == true {
		c.Memo, c.State = s.memo, s.state
		c.Object = s.object
	} else if step["object"] != nil {
		c.Object = s.play.object(step["object"])
		s.server.object = c.Object
		s.server.isGone = c.Object.GetDeletionTimestamp() != nil && len(c.Object.GetFinalizers()) == 0
	}
	if set, ok := step["server_set"].(map[string]any); ok {
		s.serverSet(set, step)
	}
	if step["use_server"] == true {
		c.Object = s.server.object
	}
	if content, ok := step["old"].(map[string]any); ok {
		content["name"], content["namespace"] = "a", "default"
		c.Old = s.play.object(content)
	} else if s.member.isReconciler && c.Action == Updated {
		c.Old = c.Object
	}
	if step["same_object"] != true && step["use_server"] != true && step["server_set"] != nil {
		s.server.seen = c.Object
	}
	t := &attempt{pass: &pass{dispatcher: s.play.reconciler.(*dispatcher)}, member: s.member, call: c, object: c.Object}
	if c.Object != nil {
		t.ref = deploy.RefOf(c.Object)
	}
	out := t.run(s.play.t.(*testing.T).Context())
	s.memo, s.state, s.object, s.lastError = out.Memo, out.State, t.object, out.Err
	return out
}

func (s *steps) serverSet(set, step map[string]any) {
	s.server.set(func(o *unstructured.Unstructured) {
		if set["generation_plus_1"] == true {
			o.SetGeneration(o.GetGeneration() + 1)
		}
		if set["deleting"] == true {
			o.Object["metadata"].(map[string]any)["deletionTimestamp"] = "2030-01-01T00:00:00Z"
		}
		if list, ok := set["finalizers"].([]any); ok {
			var finalizers []string
			for _, name := range list {
				finalizers = append(finalizers, name.(string))
			}
			o.SetFinalizers(finalizers)
		}
	})
}

func classOf(err error) any {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errNilObject), failure.Is[*deploy.NotFoundError](err):
		return "nil object"
	case failure.Is[*deploy.StaleError](err):
		return "conflict"
	case errors.Is(err, errPatch):
		return "patch failed"
	}
	return "handler failed"
}

func testFinalizerVectors(t *testing.T) {
	vectortest.Run(t, "grafana-finalizer", func(t *testing.T, c *vectortest.Case) { playHold(t, c) })
}

func testReconcileVectors(t *testing.T) {
	vectortest.Run(t, "grafana-reconcile", func(t *testing.T, c *vectortest.Case) {
		if c.Input["kind"] == "opinionated-reconciler" {
			playHold(t, c)
			return
		}
		if c.Doubtful {
			c.Deviates(c.Rule)
		}
		p := newPlay(t, c.Input)
		p.run()
		p.checkReconcilers(t, c)
	})
}

// playHold plays a case of a watcher, or a reconciler, with a finalizer.
func playHold(t *testing.T, c *vectortest.Case) {
	if c.Doubtful {
		c.Deviates(c.Rule)
	}
	synctest.Test(t, func(t *testing.T) {
		s := newSteps(t, c.Input)
		output := c.Output.(map[string]any)
		outputs := listOf(output["steps"])
		better := c.Doubtful
		for i, step := range listOf(c.Input["steps"]) {
			want := outputs[i]
			succeeded := s.succeeded
			expected, writes := s.expected(step)
			out := s.step(step)
			if errors.Is(out.Err, errPatch) && writes && s.server.patches == 1 || classOf(out.Err) == "conflict" || succeeded && step["same_object"] == true {
				expected = ""
			}
			assert.Equal(t, expected, s.called(), "step %d: what the rules say", i)
			s.succeeded = errors.Is(out.Err, errPatch) && expected != ""
			if c.Doubtful {
				continue
			}
			var recorded []string
			for _, one := range listOf(want["handlers"]) {
				name, _ := cmpOr(one["action"], one["handler"]).(string)
				recorded = append(recorded, fmt.Sprintf("%s %d", name, one["generation"]))
			}
			assert.Equal(t, recorded, s.calls, "step %d", i)
			assert.Equal(t, want["error"], classOf(out.Err), "step %d: %v", i, out.Err)
		}
		s.checkServer(t, c, output, better)
	})
}

func cmpOr(a, b any) any {
	if a != nil {
		return a
	}
	return b
}

// called returns the name of the function that the last step has called, empty for none.
func (s *steps) called() string {
	if len(s.calls) == 0 {
		return ""
	}
	name, _, _ := strings.Cut(s.calls[len(s.calls)-1], " ")
	return name
}

// expected returns the function that a step has to call by the rules, empty for none, and whether a finalizer is
// written before that.
func (s *steps) expected(step map[string]any) (name string, writes bool) {
	content, _ := step["object"].(map[string]any)
	old, _ := step["old"].(map[string]any)
	var object *unstructured.Unstructured
	switch {
	case content != nil:
		object = s.play.object(content)
	case step["same_object"] == true:
		object = s.object
	case step["use_server"] == true:
		object = s.server.object
		if set, ok := step["server_set"].(map[string]any); ok && set["deleting"] == true {
			object = object.DeepCopy()
			object.Object["metadata"].(map[string]any)["deletionTimestamp"] = "2030-01-01T00:00:00Z"
		}
	}
	if object == nil || step["call"] == "delete" || step["call"] == "update" && old == nil && !s.member.isReconciler {
		return "", false
	}
	has := func(name string) bool { return slices.Contains(object.GetFinalizers(), name) }
	isHeld, generation := has(ours) || has(wip), object.GetGeneration()
	if set, ok := step["server_set"].(map[string]any); ok && set["generation_plus_1"] == true {
		generation++
	}
	was, _ := old["generation"].(int64)
	switch {
	case object.GetDeletionTimestamp() != nil && !isHeld:
	case object.GetDeletionTimestamp() != nil:
		name = "delete"
	case !has(ours) && s.member.isReconciler && step["call"] == "update":
		writes = true
	case !has(ours):
		name, writes = "add", !has(wip) && !s.member.isReconciler
		if step["call"] == "resync" {
			name = "resync"
		}
	case step["call"] == "add", step["call"] == "resync":
		name = "sync"
	case s.member.isReconciler || generation == 0 || generation != was:
		name = "update"
	}
	if s.member.isReconciler {
		return map[string]string{"add": "CREATE", "update": "UPDATE", "delete": "DELETE", "sync": "RESYNC", "resync": "RESYNC", "": ""}[name], writes
	}
	if s.fails[name] == "nil" {
		name = ""
	}
	return name, writes
}

// checkServer checks the finalizers at the end.
func (s *steps) checkServer(t *testing.T, c *vectortest.Case, output map[string]any, better bool) {
	if s.server.object == nil {
		return
	}
	finalizers := []any{}
	for _, name := range s.server.object.GetFinalizers() {
		finalizers = append(finalizers, name)
	}
	recorded, _ := output["server_finalizers"].([]any)
	if !better && !assert.ObjectsAreEqual(recorded, finalizers) && s.fails["add"] == "fail" && slices.Equal(finalizers, append(slices.Clone(recorded), wip)) {
		c.Deviates(byHold)
		return
	}
	if !better {
		assert.Equal(t, recorded, finalizers)
		if gone, ok := output["server_object_gone"].(bool); ok {
			assert.Equal(t, gone, s.server.isGone)
		}
		return
	}
	for _, name := range recorded {
		if name != ours && name != wip {
			assert.Contains(t, finalizers, name, "those of others stay")
		}
	}
	if s.lastError == nil {
		held := s.server.object.GetDeletionTimestamp() == nil && (s.fails["delete"] != "nil")
		assert.Equal(t, held, slices.Contains(finalizers, any(ours)), "%v", finalizers)
		assert.NotContains(t, finalizers, wip)
	}
}
