package watcher

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/internal/vectortest"
	"github.com/stretchr/testify/assert"
)

// The rules by which cases deviate from the app SDK.
const (
	byCount   = "watcher 8: a policy of n retries makes n retries"
	byCap     = "watcher 9: no delay is longer than a day, or negative"
	byFirst   = "watcher 5: the first call is Add until one has succeeded"
	byOld     = "watcher 4: the old state is that of the last call that succeeded"
	byNewest  = "watcher 3: a call is always made with the latest state"
	byMerge   = "watcher 6: there is one repetition for a watcher and an object"
	byHold    = "watcher 16: the finalizer for the time of Add is there before each Add"
	byListMap = "watcher 30: ranges are over copies, and an index that isn't there is no panic"
)

// TestVectors plays the recorded cases of all families.
func TestVectors(t *testing.T) {
	t.Run("retry", testRetryVectors)
	t.Run("backoff", testBackoffVectors)
	t.Run("listmap", testListMapVectors)
	t.Run("finalizer", testFinalizerVectors)
	t.Run("reconcile", testReconcileVectors)
}

func testRetryVectors(t *testing.T) {
	vectortest.Run(t, "grafana-retry", func(t *testing.T, c *vectortest.Case) {
		if c.Doubtful {
			c.Deviates(c.Rule)
		}
		if c.Input["real_time"] == true {
			playRealTime(t)
			return
		}
		p := newPlay(t, c.Input)
		p.run()
		p.checkRules(t)
		if !c.Doubtful {
			compareCalls(t, c, p, recordedCalls(c))
		}
	})
}

// recordedCalls returns the recorded calls of a case.
func recordedCalls(c *vectortest.Case) (calls []call) {
	for _, one := range listOf(c.Output.(map[string]any)["calls"]) {
		who, _ := cmp.Or(one["watcher"], one["reconciler"]).(string)
		recorded := call{who: who, object: one["object"].(string), action: one["action"].(string), at: seconds(one["at"]), state: one["state"]}
		recorded.generation, _ = one["generation"].(int64)
		recorded.old, _ = one["old_generation"].(int64)
		recorded.failed, _ = one["failed"].(bool)
		attempt, _ := one["attempt"].(int64)
		event, _ := one["event"].(int64)
		recorded.attempt, recorded.event = int(attempt), int(event)
		calls = append(calls, recorded)
	}
	return calls
}

type line struct{ who, object string }

// lines returns the calls of each watcher for each object.
func lines(calls []call) map[line][]call {
	found := map[line][]call{}
	for _, c := range calls {
		key := line{c.who, c.object}
		found[key] = append(found[key], c)
	}
	return found
}

// compareCalls compares the calls for each watcher and object with the recorded ones. From the first call on that
// differs by a rule, the rules alone count.
func compareCalls(t *testing.T, c *vectortest.Case, p *play, recorded []call) {
	t.Helper()
	ours := lines(p.calls)
	for key, want := range lines(recorded) {
		got := ours[key]
		delete(ours, key)
		for i, w := range want {
			if i == len(got) {
				if assert.True(t, exceeds(p.input, w.attempt), "%v: no call %d: %+v", key, i, w) {
					c.Deviates(byCount)
				}
				break
			}
			g := got[i]
			assert.LessOrEqual(t, g.at, w.at+10*soon, "%v: call %d: the app SDK is late by up to a second", key, i)
			g.at, g.end, w.at, w.end, g.givenUp = 0, 0, 0, 0, false
			if g.action != "update" || w.old == 0 {
				g.old, w.old = 0, 0
			}
			if rule := ruleFor(g, w); rule != "" {
				c.Deviates(rule)
				break
			}
			if !assert.Equal(t, w, g, "%v: call %d", key, i) {
				break
			}
		}
		if len(got) > len(want) {
			assert.NotEmpty(t, ruleFor(got[len(want)-1], want[len(want)-1]), "%v: more calls: %+v", key, got[len(want):])
		}
	}
	assert.Empty(t, ours, "nobody else is called")
}

// exceeds reports whether a recorded retry is one more than a policy allows.
func exceeds(input map[string]any, attempt int) bool {
	policy := input["policy"].(map[string]any)
	most, _ := policy["max"].(int64)
	return policy["kind"] == "exponential" && attempt > int(most)
}

// ruleFor returns the rule by which a call differs from a recorded one, empty if no rule explains it.
func ruleFor(got, want call) string {
	switch {
	case (got.action == "add" || got.action == string(Created)) && want.action != got.action:
		return byFirst
	case got.generation > want.generation && got.event > want.event:
		return byNewest
	case got.action == want.action && got.old > 0 && got.old < want.old:
		return byOld
	case got.event > want.event && want.attempt > 0:
		return byMerge
	}
	return ""
}

// checkRules checks what holds for each play.
func (p *play) checkRules(t *testing.T) {
	t.Helper()
	policy := policyOf(p.input)
	steps := listOf(p.input["steps"])
	failed := 0
	for _, one := range p.calls {
		if one.failed {
			failed++
		}
	}
	assert.Len(t, p.failures, failed, "each failure is reported")
	for _, q := range p.asked {
		if q.Err == nil {
			assert.NotEmpty(t, p.input["reconcilers"], "a policy knows the error")
		}
	}
	for key, calls := range lines(p.calls) {
		handled, old := false, int64(0)
		first := steps[calls[0].event]
		if first["event"] != "add" {
			handled = true
			if before, ok := first["old"].(map[string]any); ok {
				old, _ = before["generation"].(int64)
			}
		}
		chain := 0
		for i, c := range calls {
			assert.Equal(t, latestFor(steps, calls[:i], c), c.generation, "%v: call %d: the latest state", key, i)
			switch c.action {
			case "add":
				assert.False(t, handled, "%v: call %d: added twice", key, i)
			case "update":
				assert.True(t, handled, "%v: call %d: updated before it was added", key, i)
				assert.Equal(t, old, c.old, "%v: call %d: the last state that was handled", key, i)
			case "delete":
				handled = false
			}
			if i > 0 {
				before := calls[i-1]
				assert.GreaterOrEqual(t, c.at, before.end, "%v: call %d: two at once", key, i)
				if before.action == "delete" && c.action != "delete" {
					assert.True(t, !before.failed || before.givenUp, "%v: call %d: added before the deletion has ended", key, i)
				}
				if before.event == c.event && before.action == c.action {
					assert.True(t, before.failed, "%v: call %d: repeated after a success", key, i)
				}
				if before.event == c.event && before.failed && !before.givenUp && before.action == c.action && policy != nil {
					_, again := policy(playError(c.action), chain-1)
					assert.True(t, again, "%v: call %d: one retry too many", key, i)
					assert.True(t, p.isDue(policy, calls[:i], c), "%v: call %d: at %s", key, i, c.at)
				}
				if c.event != before.event || (c.action == "delete") != (before.action == "delete") {
					chain = 0
				}
			}
			if c.failed {
				chain++
			} else {
				chain = 0
				if c.action != "delete" {
					handled, old = true, c.generation
				}
			}
		}
	}
	p.checkOrder(t)
}

// latestFor returns the generation that a call has to have: that of the last event or, for a deletion, of the last
// state of the object that the watcher was called for.
func latestFor(steps []map[string]any, earlier []call, c call) any {
	of := func(event int) any {
		generation, _ := steps[event]["object"].(map[string]any)["generation"].(int64)
		return generation
	}
	if c.action != "delete" {
		return of(c.event)
	}
	first := c.event
	if len(earlier) > 0 {
		before := earlier[len(earlier)-1]
		if before.action == "delete" && before.failed {
			return before.generation
		}
		for i := before.event + 1; i < c.event; i++ {
			object, _ := steps[i]["object"].(map[string]any)
			if steps[i]["event"] == "delete" && fmt.Sprint(object["namespace"], "/", object["name"]) == c.object {
				first = i
				break
			}
		}
	}
	return of(first)
}

// isDue reports whether a retry comes when an earlier failure has asked for it: an event may have left it as it was,
// and one call after the other is made in a play.
func (p *play) isDue(policy RetryPolicy, earlier []call, c call) bool {
	isBusy := slices.ContainsFunc(p.calls, func(other call) bool {
		return other.end > other.at && other.at < c.at && other.end <= c.at && c.at-other.end <= soon
	})
	for i, one := range earlier {
		for failures := range i + 1 {
			delay, _ := policy(playError(c.action), failures)
			if late := c.at - one.end - delay; one.failed && late >= 0 && (late <= soon || isBusy) {
				return true
			}
		}
	}
	return false
}

// playError is an error for a policy that looks at its text.
type playError string

func (e playError) Error() string { return string(e) }

// checkOrder checks that the watchers are called in their order for each event.
func (p *play) checkOrder(t *testing.T) {
	t.Helper()
	var names []string
	for _, list := range []string{"watchers", "reconcilers"} {
		for _, one := range listOf(p.input[list]) {
			names = append(names, one["name"].(string))
		}
	}
	called := map[int][]int{}
	waits := map[string]bool{} // a watcher that has to delete an earlier object comes later
	for _, c := range p.calls {
		waits[c.object] = waits[c.object] || c.action == "delete" && c.failed
		if c.attempt == 0 && !waits[c.object] {
			called[c.event] = append(called[c.event], slices.Index(names, c.who))
		}
	}
	for event, order := range called {
		assert.True(t, slices.IsSorted(order), "event %d: %v", event, order)
	}
}

func testBackoffVectors(t *testing.T) {
	vectortest.Run(t, "grafana-backoff", func(t *testing.T, c *vectortest.Case) {
		initial, _ := c.Input["initial_ns"].(int64)
		most, _ := c.Input["max"].(int64)
		policy := Exponential(time.Duration(initial), int(most))
		for _, want := range listOf(c.Output.(map[string]any)["delays"]) {
			attempt := want["attempt"].(int64)
			after, again := policy(nil, int(attempt))
			assert.GreaterOrEqual(t, after, time.Duration(0))
			assert.LessOrEqual(t, after, LongestDelay)
			exact := float64(initial) * math.Pow(2, float64(attempt))
			switch {
			case want["retry"] == true && attempt == most:
				c.Deviates(byCount)
				assert.False(t, again)
			case attempt < 0:
				c.Deviates(c.Rule)
				assert.True(t, again)
			case again && exact > float64(LongestDelay):
				c.Deviates(byCap)
				assert.Equal(t, LongestDelay, after)
				assert.Equal(t, want["retry"], again)
			default:
				assert.Equal(t, want["retry"], again)
				assert.Equal(t, want["delay_ns"], int64(after))
			}
		}
		if c.Doubtful {
			c.Deviates(c.Rule)
		}
	})
}

func testListMapVectors(t *testing.T) {
	vectortest.Run(t, "grafana-listmap", func(t *testing.T, c *vectortest.Case) {
		var l ListMap[string, string]
		var results []any
		for _, op := range listOf(c.Input["ops"]) {
			results = append(results, operate(&l, op))
		}
		want := slices.Clone(c.Output.(map[string]any)["results"].([]any))
		if c.Doubtful {
			c.Deviates(c.Rule)
			ops := listOf(c.Input["ops"])
			for i := range want {
				want[i] = betterResult(c.Rule, ops, i, want)
			}
		}
		assert.Equal(t, want, results)
	})
}

// betterResult returns what the rules of doubtful cases expect of an operation.
func betterResult(rule string, ops []map[string]any, i int, want []any) any {
	panics, _ := want[i].(map[string]any)
	switch op := ops[i]; {
	case panics["panic"] == true && op["op"] == "ItemAt":
		return []any{"", false}
	case panics["panic"] == true:
		return nil
	case rule == "no-empty-keys" && op["op"] == "Keys":
		return []any{}
	case rule == "range-over-a-copy" && op["do"] != nil: // what an operation inside of the loop changes isn't seen
		var before ListMap[string, string]
		for _, earlier := range ops[:i] {
			operate(&before, earlier)
		}
		return operate(&before, map[string]any{"op": op["op"], "key": op["key"]})
	}
	return want[i]
}

func operate(l *ListMap[string, string], op map[string]any) any {
	key, _ := op["key"].(string)
	index, _ := op["index"].(int64)
	limit, _ := op["limit"].(int64)
	matches := func(item string) bool {
		list, _ := op["match"].([]any)
		return slices.Contains(list, any(item))
	}
	inside := func(i int) {
		if at, ok := op["at_index"].(int64); ok && i == int(at) {
			operate(l, op["do"].(map[string]any))
		}
	}
	switch op["op"] {
	case "AddItem":
		var added []string
		for _, item := range op["items"].([]any) {
			added = append(added, item.(string))
		}
		l.AddItem(key, added...)
	case "ItemAt":
		item, ok := l.ItemAt(key, int(index))
		return []any{item, ok}
	case "KeySize":
		return int64(l.KeySize(key))
	case "Size":
		return int64(l.Size())
	case "Keys":
		keys := []any{}
		for _, one := range slices.Sorted(slices.Values(l.Keys())) {
			keys = append(keys, one)
		}
		return keys
	case "Range":
		found := []any{}
		l.Range(key, func(i int, item string) {
			found = append(found, []any{int64(i), item})
			inside(i)
		})
		return found
	case "RangeAll":
		found := []any{}
		l.RangeAll(func(key string, i int, item string) { found = append(found, []any{key, int64(i), item}) })
		slices.SortStableFunc(found, func(a, b any) int { return cmp.Compare(a.([]any)[0].(string), b.([]any)[0].(string)) })
		return found
	case "RemoveItem":
		return l.RemoveItem(key, matches)
	case "RemoveItems":
		return int64(l.RemoveItems(key, matches, int(limit)))
	case "RemoveItemAt":
		l.RemoveItemAt(key, int(index))
	case "RemoveKey":
		l.RemoveKey(key)
	}
	return nil
}

// checkReconcilers compares the calls of reconcilers with the recorded ones; in a doubtful case it checks the rules.
func (p *play) checkReconcilers(t *testing.T, c *vectortest.Case) {
	t.Helper()
	failed := 0
	for _, one := range p.calls {
		if one.failed {
			failed++
		}
	}
	assert.Len(t, p.failures, failed, "each failure is reported, also with RequeueAfter")
	p.checkOrder(t)
	if !c.Doubtful {
		compareCalls(t, c, p, recordedCalls(c))
		return
	}
	recorded := lines(recordedCalls(c))
	for key, calls := range lines(p.calls) {
		script := listOf(scriptOf(p.input, key.who)["script"])
		var state any
		for i, one := range calls {
			last := listOf(p.input["steps"])[one.event]["object"].(map[string]any)
			assert.Equal(t, last["generation"], one.generation, "call %d: the latest state", i)
			if one.attempt == 0 {
				state = nil
			}
			assert.Equal(t, state, one.state, "call %d: the state of the call before", i)
			if i < len(script) && script[i]["state"] != nil {
				state = script[i]["state"]
			}
		}
		if c.Rule == "requeue-survives-resync" {
			assert.Greater(t, len(calls), len(recorded[key]), "the call that was asked for comes")
		} else {
			assert.Len(t, calls, len(recorded[key]))
		}
	}
}

func scriptOf(input map[string]any, name string) map[string]any {
	for _, one := range listOf(input["reconcilers"]) {
		if one["name"] == name {
			return one
		}
	}
	return nil
}
