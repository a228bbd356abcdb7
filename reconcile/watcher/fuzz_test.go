package watcher

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func added(o *unstructured.Unstructured) deploy.Event {
	return deploy.Event{Type: deploy.Added, New: o}
}

func modified(from, to *unstructured.Unstructured) deploy.Event {
	return deploy.Event{Type: deploy.Modified, Old: from, New: to}
}

func deleted(o *unstructured.Unstructured) deploy.Event {
	return deploy.Event{Type: deploy.Deleted, Old: o, New: o}
}

func refOf(o *unstructured.Unstructured) deploy.Ref { return deploy.RefOf(o) }

// FuzzRules plays random events, failures and policies, and checks the rules that hold for each play: watcher 1, 3 to
// 8.
func FuzzRules(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(binary.BigEndian.AppendUint64(nil, seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var seed [8]byte
		copy(seed[:], data)
		input := randomInput(rand.New(rand.NewPCG(binary.BigEndian.Uint64(seed[:]), 0)))
		p := newPlay(t, input)
		p.run()
		p.checkRules(t)
		p.checkEnds(t)
		if t.Failed() {
			t.Logf("%v", input)
		}
	})
}

// randomInput returns the input of a play in the form of the recorded cases.
func randomInput(random *rand.Rand) map[string]any {
	pick := func(list ...any) any { return list[random.IntN(len(list))] }
	input := map[string]any{
		"policy":  map[string]any{"kind": "exponential", "initial_s": int64(1 + random.IntN(4)), "max": int64(random.IntN(4))},
		"dequeue": pick("nil", "opinionated", "never", "always", "same-action", "newer-generation", "if-error-known"),
		"until_s": int64(10_000),
	}
	var watchers, steps []any
	for i := range 1 + random.IntN(3) {
		fails := map[string]any{}
		for _, action := range []string{"add", "update", "delete"} {
			if random.IntN(2) == 0 {
				fails[action] = pick(int64(1), int64(2), int64(-1))
			}
		}
		watchers = append(watchers, map[string]any{"name": string(rune('a' + i)), "fail": fails, "takes_s": pick(int64(0), 0.25, int64(2))})
	}
	generations, at := map[string]int64{}, 0.5
	for range 1 + random.IntN(12) {
		name := pick("x", "y").(string)
		content := func() map[string]any {
			return map[string]any{"name": name, "namespace": "default", "generation": generations[name]}
		}
		step := map[string]any{"at": at}
		switch old := content(); {
		case generations[name] == 0:
			generations[name] = 1
			step["event"], step["object"] = "add", content()
		case random.IntN(5) == 0:
			step["event"], step["object"] = "delete", old
			generations[name] = 0
		default:
			if random.IntN(3) > 0 {
				generations[name]++
			}
			step["event"], step["old"], step["object"] = "update", old, content()
		}
		steps = append(steps, step)
		at += float64(random.IntN(40)) / 8
	}
	input["watchers"], input["steps"] = watchers, steps
	return input
}

// checkEnds checks that the last event of each object was handled by each watcher, or given up.
func (p *play) checkEnds(t *testing.T) {
	t.Helper()
	calls := lines(p.calls)
	for object, event := range p.events {
		step := listOf(p.input["steps"])[event-1]
		for _, w := range listOf(p.input["watchers"]) {
			all := calls[line{w["name"].(string), object.Namespace + "/" + object.Name}]
			if step["event"] == "delete" {
				if len(all) > 0 {
					assert.Equal(t, "delete", all[len(all)-1].action, "%v: %v", w, object)
				}
				continue
			}
			if assert.NotEmpty(t, all) {
				assert.Equal(t, step["object"].(map[string]any)["generation"], all[len(all)-1].generation, "%v: %v", w, object)
			}
		}
	}
	for ref, e := range p.reconciler.(*dispatcher).objects.entries {
		assert.NotEmpty(t, e.uid, "%s is gone", ref)
	}
}
