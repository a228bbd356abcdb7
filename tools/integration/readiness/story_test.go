package readiness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/operkit/operkit/status/readiness"
	"github.com/operkit/operkit/tools/integration/internal/kubectl"
)

// story is the life of one object: what it goes through, and what somebody does about it on the way.
type story struct {
	kind     string // kind.group
	reason   string // why there is this story, beside its kind
	before   []string
	manifest string
	// steps are taken one after another.
	steps []step
	// states are all that the object goes through, in order. The story ends with the last one.
	states []readiness.State
	// agrees is what kubectl says as soon as the last state is reached, and not before a step.
	agrees question
	// follows is what kubectl says some time later.
	follows question
}

// step is something that happens from outside, once the object's reason is as given. Until then, and as long as nobody
// does it, the object stays where it is.
type step struct {
	at  string
	act func(t *testing.T, w *world)
}

// question is one that kubectl answers: its arguments, and what it says when the answer is yes.
type question struct {
	args []string
	yes  string
}

func wait(condition, object string) question {
	return question{[]string{"wait", "--for=" + condition, object}, "condition met"}
}

func rollout(object, yes string) question {
	return question{[]string{"rollout", "status", object}, yes}
}

// now asks without waiting.
func (q question) now(ctx context.Context, k kubectl.Kubectl) (yes bool, err error) {
	flag := "--timeout=0"
	if q.args[0] == "rollout" {
		flag = "--watch=false"
	}
	answer, err := k.Run(ctx, append(slices.Clone(q.args), flag)...)
	if err != nil {
		return false, err
	}
	if strings.Contains(answer.Stdout+answer.Stderr, q.yes) {
		return true, nil
	}
	for _, no := range []string{"aiting for", "timed out waiting for the condition", "condition not met"} {
		if strings.Contains(answer.Stdout+answer.Stderr, no) {
			return false, nil
		}
	}
	return false, fmt.Errorf("kubectl %s: neither yes nor no: %s", strings.Join(q.args, " "), answer)
}

// event is one version of the object, judged.
type event struct {
	version string
	result  readiness.Result
}

// reader follows one object.
type reader struct {
	w      *world
	watch  watch.Interface
	name   string
	want   []readiness.State // those of the story
	events []event
}

// newReader watches from before the object is created, so that its very first version is seen as well.
func newReader(t *testing.T, w *world, object *unstructured.Unstructured, want []readiness.State) *reader {
	t.Helper()
	endpoint := w.resource(t, object.GroupVersionKind())
	only := fields.OneTermEqualSelector("metadata.name", object.GetName()).String()
	list, err := endpoint.List(t.Context(), metav1.ListOptions{FieldSelector: only})
	require.NoError(t, err)
	require.Empty(t, list.Items, "it is there already")
	watching, err := endpoint.Watch(t.Context(), metav1.ListOptions{FieldSelector: only, ResourceVersion: list.GetResourceVersion()})
	require.NoError(t, err)
	t.Cleanup(watching.Stop)
	return &reader{w: w, watch: watching, name: object.GetName(), want: want}
}

// until reads versions until one of them is enough. None of them may have a state that doesn't come next in the story.
func (r *reader) until(ctx context.Context, t *testing.T, what string, enough func(object *unstructured.Unstructured, result readiness.Result) bool) {
	t.Helper()
	for {
		select {
		case <-ctx.Done():
			require.FailNow(t, "it didn't come to "+what, "%v", r)
		case got, open := <-r.watch.ResultChan():
			require.True(t, open, "the watch ended, %v", r)
			object, ok := got.Object.(*unstructured.Unstructured)
			require.True(t, ok && got.Type != watch.Error, "%v", got)
			require.NotEqual(t, watch.Deleted, got.Type, "%v", r)
			result := readiness.Of(object)
			r.events = append(r.events, event{object.GetResourceVersion(), result})
			states := r.states()
			require.Equal(t, r.want[:min(len(states), len(r.want))], states, "the story has no such state, %v", r)
			if enough(object, result) {
				return
			}
		}
	}
}

// states are those of all versions, each once in a row.
func (r *reader) states() []readiness.State {
	var states []readiness.State
	for _, e := range r.events {
		states = append(states, e.result.State)
	}
	return slices.Compact(states)
}

// String tells what was seen, for people.
func (r *reader) String() string {
	var text strings.Builder
	text.WriteString(r.name + " was seen as")
	for _, e := range r.events {
		fmt.Fprintf(&text, "\n  %s: %s %s: %s", e.version, e.result.State, e.result.Reason, e.result.Message)
	}
	return text.String()
}

// tell plays a story and holds every verdict against what it says.
func (s story) tell(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	w := newWorld(t)
	for _, manifest := range s.before {
		w.create(t, manifest)
	}
	q, later := s.agrees.in(w), s.follows.in(w)
	object := w.object(t, s.manifest)
	r := newReader(t, w, object, s.states)
	w.create(t, s.manifest)

	for _, step := range s.steps {
		r.until(ctx, t, step.at, func(_ *unstructured.Unstructured, result readiness.Result) bool { return result.Reason == step.at })
		yes, err := q.now(ctx, w.kubectl)
		require.NoError(t, err)
		assert.False(t, yes, "kubectl says yes already, %v", r)
		step.act(t, w)
	}

	last := s.states[len(s.states)-1]
	waited := s.agrees.in(w).waitFor(ctx, t, w, object)
	r.until(ctx, t, string(last), func(_ *unstructured.Unstructured, result readiness.Result) bool { return result.State == last })
	yes, err := q.now(ctx, w.kubectl)
	require.NoError(t, err)
	assert.True(t, yes, "kubectl says no, %v", r)
	seen := <-waited
	require.NoError(t, seen.err)
	assert.Equal(t, last, readiness.Of(seen.object).State, "kubectl's wait ended with %v", seen.object)
	if later.args != nil {
		then := <-later.waitFor(ctx, t, w, object)
		require.NoError(t, then.err)
		assert.Equal(t, last, readiness.Of(then.object).State, "kubectl's wait ended with %v", then.object)
	}
	r.settle(ctx, t, object)
	assert.Equal(t, s.states, r.states(), "%v", r)
}

// settle reads everything that happened to the object up to now: a mark that is made now comes after all of it. It is a
// label, since an annotation would give a Deployment another generation.
func (r *reader) settle(ctx context.Context, t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	const mark = "integration.operkit.dev/mark"
	kind := object.GroupVersionKind()
	r.w.patch(t, kind.GroupVersion().String(), kind.Kind, r.name, "{metadata: {labels: {"+mark+": set}}}")
	r.until(ctx, t, "its mark", func(object *unstructured.Unstructured, _ readiness.Result) bool {
		return object.GetLabels()[mark] == "set"
	})
}

// in puts the test's namespace into the arguments.
func (q question) in(w *world) question {
	args := slices.Clone(q.args)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "$namespace", w.namespace)
	}
	return question{args, q.yes}
}

// waited is the object with which kubectl stopped to wait.
type waited struct {
	object *unstructured.Unstructured
	err    error
}

// waitFor lets kubectl wait for the answer yes. A rollout tells no object, so it is read right afterwards.
func (q question) waitFor(ctx context.Context, t *testing.T, w *world, object *unstructured.Unstructured) <-chan waited {
	t.Helper()
	endpoint := w.resource(t, object.GroupVersionKind())
	done := make(chan waited, 1)
	go func() {
		args := append(slices.Clone(q.args), "--timeout="+patience.String())
		isRollout := q.args[0] == "rollout"
		if !isRollout {
			args = append(args, "--output=json")
		}
		answer, err := w.kubectl.Run(ctx, args...)
		seen := &unstructured.Unstructured{}
		switch {
		case err != nil:
		case isRollout && !strings.Contains(answer.Stdout+answer.Stderr, q.yes), !isRollout && answer.Code != 0:
			err = fmt.Errorf("kubectl %s: %s", strings.Join(args, " "), answer)
		case isRollout:
			seen, err = endpoint.Get(ctx, object.GetName(), metav1.GetOptions{})
		default:
			err = seen.UnmarshalJSON([]byte(answer.Stdout))
		}
		done <- waited{seen, err}
	}()
	return done
}
