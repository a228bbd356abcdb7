package handlers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/handlers"
	"github.com/operkit/operkit/reconcile/handlers/internal/diff"
	"github.com/operkit/operkit/reconcile/handlers/internal/record"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

const kopfFinalizer = "kopf.zalando.org/KopfFinalizerMarker"

// play plays a recorded case: an object, and handlers whose outcomes are scripted. The clock is that of a bubble of
// testing/synctest.
type play struct {
	t       *testing.T
	begin   time.Time
	cluster *dryrun.Cluster
	ref     deploy.Ref
	scripts []any
	process watch.Reconciler
	log     bytes.Buffer

	// calls are those of the present step, and all those of the case. made counts the calls of each handler.
	calls, all []call
	made       map[string]int
	// ended are the handlers that have ended in the present cycle, and started when they began.
	ended   map[string]ending
	started map[string]time.Time
	reason  string
	after   time.Duration
}

// call is one call of a handler or a step, for a spec.
type call struct {
	id    string
	retry int
	at    time.Time
	spec  any
	held  bool
}

// ending is how a handler has ended.
type ending struct {
	failed   bool
	attempts int
	text     string
	at       time.Time
}

func newPlay(t *testing.T, input map[string]any) *play {
	p := &play{t: t, begin: time.Now(), scripts: input["handlers"].([]any), made: map[string]int{}, ended: map[string]ending{}, started: map[string]time.Time{}}
	rename(p.scripts)
	body := &unstructured.Unstructured{Object: input["body"].(map[string]any)}
	body.SetManagedFields(nil)
	finalizers := body.GetFinalizers()
	slices.Sort(finalizers)
	body.SetFinalizers(slices.Compact(finalizers)) // an API server accepts each once
	p.ref = deploy.RefOf(body)
	if old, handled := input["old"].(map[string]any); handled {
		body.SetAnnotations(map[string]string{recordKey: recorded(t, body.GetUID(), old)})
	}
	var err error
	p.cluster, err = dryrun.New(dryrun.AnyKind(), dryrun.Namespaces("*"), dryrun.Objects(body), dryrun.Clock(time.Now))
	require.NoError(t, err)
	return p
}

// rename makes the ids of handlers valid. kopf takes them from the names of functions.
func rename(scripts []any) {
	for _, each := range scripts {
		script := each.(map[string]any)
		script["id"] = valid(script["id"].(string))
		subs, _ := script["subs"].([]any)
		rename(subs)
	}
}

func valid(id string) string { return strings.ReplaceAll(strings.ToLower(id), "_", "-") }

// recorded returns the text of a record of an essence.
func recorded(t *testing.T, uid types.UID, essence map[string]any) string {
	digest, err := record.Digest(essence)
	require.NoError(t, err)
	text, err := record.Record{UID: uid, Digest: digest, Essence: essence}.Text(0)
	require.NoError(t, err)
	return text
}

// start starts a process. The error is about the registration.
func (p *play) start() error {
	h := handlers.New[handlers.Unstructured](p.ref.Kind, handlers.Finalizer(kopfFinalizer))
	for _, each := range p.scripts {
		script := each.(map[string]any)
		id, options := script["id"].(string), optionsOf(script)
		f := func(ctx context.Context, r *handlers.Request[handlers.Unstructured]) error {
			return p.perform(ctx, r, script)
		}
		if field, _ := script["field"].(string); script["on"] == "field" {
			h.Field(field, id, f, options...)
		} else {
			if field != "" {
				options = append(options, handlers.InField(field))
			}
			h.On(causes[script["on"].(string)], id, f, options...)
		}
	}
	manager, err := deploy.NewManager(p.cluster)
	require.NoError(p.t, err)
	logger := slog.New(slog.NewJSONHandler(&p.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	p.process, err = h.Reconciler(p.t.Context(), watch.Env{Manager: manager, Logger: logger, Now: time.Now})
	return err
}

var causes = map[string]handlers.Cause{"create": handlers.Create, "update": handlers.Update, "delete": handlers.Delete, "resume": handlers.Resume}

// optionsOf returns the options of a script. A step has the limits of its handler; so a handler without limits gets
// those of its first step.
func optionsOf(script map[string]any) (options []handlers.Option) {
	limits := maps.Clone(script)
	if subs, _ := script["subs"].([]any); len(subs) > 0 {
		for _, key := range []string{"retries", "timeout", "backoff"} {
			if value, given := subs[0].(map[string]any)[key]; given && limits[key] == nil {
				limits[key] = value
			}
		}
	}
	backoff := 60 * time.Second
	if limits["backoff"] != nil {
		backoff = max(seconds(limits["backoff"]), 1)
	}
	options = append(options, handlers.Backoff(backoff))
	if n, given := limits["retries"].(int64); given {
		options = append(options, handlers.MaxAttempts(int(n)))
	}
	if limits["timeout"] != nil {
		options = append(options, handlers.Within(seconds(limits["timeout"])))
	}
	policy := map[any]handlers.ErrorPolicy{"permanent": handlers.Fail, "ignored": handlers.Ignore}[limits["errors"]]
	return append(options, handlers.Errors(policy))
}

func seconds(number any) time.Duration {
	if n, isInteger := number.(int64); isInteger {
		return time.Duration(n) * time.Second
	}
	n, _ := number.(float64)
	return time.Duration(n * float64(time.Second))
}

// perform is a handler.
func (p *play) perform(ctx context.Context, r *handlers.Request[handlers.Unstructured], script map[string]any) error {
	id := script["id"].(string)
	p.reason, p.started[id] = r.Cause.String(), r.Started
	p.note(id, r.Attempt-1, r.Object)
	outcome := p.next(id, script)
	if err := errorOf(ctx, outcome); err != nil {
		return err
	}
	p.performSteps(ctx, r, script, "")
	if value := outcome["result"]; value != nil {
		return r.Result(value)
	}
	return nil
}

// performSteps makes the steps of a handler, also those of a step, which kopf nests. Their errors don't matter: a handler
// whose steps wait hasn't succeeded, and kopf's handlers don't fail with a step.
func (p *play) performSteps(ctx context.Context, r *handlers.Request[handlers.Unstructured], script map[string]any, within string) {
	subs, _ := script["subs"].([]any)
	for _, each := range subs {
		sub := each.(map[string]any)
		name := within + sub["id"].(string)
		id := p.scriptOf(r) + "/" + name
		_ = r.Step(ctx, name, func(ctx context.Context) error {
			p.note(id, p.made[id], r.Object)
			return errorOf(ctx, p.next(id, sub))
		})
		p.performSteps(ctx, r, sub, name+"/")
	}
}

// scriptOf returns the id of the handler that was called last.
func (p *play) scriptOf(*handlers.Request[handlers.Unstructured]) string {
	for _, c := range slices.Backward(p.calls) {
		if id, _, isStep := strings.Cut(c.id, "/"); !isStep {
			return id
		}
	}
	return ""
}

func (p *play) note(id string, retry int, object *unstructured.Unstructured) {
	live := p.live()
	c := call{id, retry, time.Now(), object.Object["spec"], live != nil && slices.Contains(live.GetFinalizers(), kopfFinalizer)}
	p.calls, p.all = append(p.calls, c), append(p.all, c)
}

// next returns the outcome of the next call. The last one repeats.
func (p *play) next(id string, script map[string]any) map[string]any {
	outcomes, _ := script["outcomes"].([]any)
	at := p.made[id]
	p.made[id]++
	if len(outcomes) == 0 {
		return nil
	}
	return outcomes[min(at, len(outcomes)-1)].(map[string]any)
}

// errorOf takes the time of an outcome, or until the context ends, and returns its error.
func errorOf(ctx context.Context, outcome map[string]any) error {
	select {
	case <-time.After(seconds(outcome["takes"])):
	case <-ctx.Done():
		return nil // what is returned now decides nothing
	}
	if text, is := outcome["permanent"].(string); is {
		return request.Permanent(errors.New(text))
	}
	if text, is := outcome["error"].(string); is {
		return errors.New(text)
	}
	if text, is := outcome["temporary"].(string); is {
		after, given := outcome["delay"]
		if !given {
			after = int64(60)
		}
		return request.RetryAfter(max(seconds(after), 1), errors.New(text))
	}
	return nil
}

func (p *play) live() *unstructured.Unstructured {
	object, err := p.cluster.View().Get(p.t.Context(), p.ref)
	require.NoError(p.t, err)
	return object
}

// stored returns the record on the object.
func (p *play) stored() record.Record {
	live := p.live()
	if live == nil {
		return record.Record{}
	}
	found, err := record.Of(live.GetAnnotations()[recordKey], live.GetUID())
	require.NoError(p.t, err)
	return found
}

// remove removes the object, whatever holds it.
func (p *play) remove() {
	p.change(map[string]any{"metadata": map[string]any{"finalizers": nil}})
	p.change(map[string]any{"metadata": map[string]any{"deletionTimestamp": ""}})
}

// change makes a change of the user: a merge patch, or the deletion. An object that is gone stays so.
func (p *play) change(patch map[string]any) {
	if p.live() == nil {
		return
	}
	if diff.At(patch, []string{"metadata", "deletionTimestamp"}) != nil {
		require.NoError(p.t, p.cluster.Port().Delete(p.t.Context(), p.ref, deploy.DeleteOptions{}))
		return
	}
	body, err := json.Marshal(patch)
	require.NoError(p.t, err)
	_, err = p.cluster.Port().Patch(p.t.Context(), p.ref, deploy.PatchRequest{Type: "application/merge-patch+json", Body: body, FieldManager: "somebody"})
	require.NoError(p.t, err)
}

// pass makes one pass over the object.
func (p *play) pass(listed bool) {
	p.calls, p.reason = nil, ""
	before := len(p.stored().Cycle)
	p.log.Reset()
	req := request.Request{Key: p.ref}
	if listed {
		req.Triggers = request.Listed
	}
	result, err := p.process.Reconcile(p.t.Context(), req)
	require.NoError(p.t, err)
	p.after = result.RequeueAfter
	if before == 0 && len(p.calls) > 0 {
		clear(p.ended) // a new cycle
	}
	p.readEnds()
}

// readEnds reads from the log which handlers have ended.
func (p *play) readEnds() {
	for _, line := range bytes.Split(bytes.TrimSpace(p.log.Bytes()), []byte("\n")) {
		var entry struct {
			Time                time.Time
			Msg, Handler, Error string
			Attempts            int
		}
		if len(line) == 0 || json.Unmarshal(line, &entry) != nil {
			continue
		}
		switch entry.Msg {
		case "a handler has succeeded":
			p.ended[entry.Handler] = ending{false, entry.Attempts, "", entry.Time}
		case "an error of a handler is ignored":
			p.ended[entry.Handler] = ending{false, 1, "", entry.Time}
		case "a handler has failed for good":
			p.ended[entry.Handler] = ending{true, entry.Attempts, entry.Error, entry.Time}
		}
	}
}

// shown returns the calls as text.
func shown(calls []call, begin time.Time) (lines []string) {
	for _, c := range calls {
		lines = append(lines, fmt.Sprintf("%s %d at %.1f", c.id, c.retry, c.at.Sub(begin).Seconds()))
	}
	return lines
}
