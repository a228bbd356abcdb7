package operator_test

import (
	"bytes"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	worksAmongPeers = "no peer makes this process pause"
	lowerPauses     = "this process pauses: another one has a higher priority"
	frozenPauses    = "this process pauses: the operator is frozen"
	equalPauses     = "this process pauses: another one has the same priority"
)

// developer are the flags of a process that isn't in the cluster.
func (w *world) developer(priority string) []string {
	return []string{"--priority", priority, "--leader-election.lock", "none", "--peering.namespace", w.Namespace}
}

// times returns when a process has logged a text.
func (p *process) times(t *testing.T, text string) (all []time.Time) {
	t.Helper()
	for _, line := range p.log.lines(text) {
		found := regexp.MustCompile(`time=(\S+)`).FindStringSubmatch(line)
		require.NotNil(t, found, line)
		at, err := time.Parse(time.RFC3339, found[1])
		require.NoError(t, err)
		all = append(all, at)
	}
	return all
}

// logged waits until a process has logged a text so many times, and returns when it did so last.
func (w *world) logged(p *process, text string, times int) time.Time {
	w.t.Helper()
	w.eventually(text, func() bool { return len(p.log.lines(text)) >= times })
	return p.times(w.t, text)[times-1]
}

func TestPriorities(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions, patchDefinition(t)))
	priorities := rightsIn(t, "## Priorities\n")
	rights := append(leading(t), priorities...)
	low := w.process(w.replica("low", rights...), "--priority", "0", "--watch.grace", "1s")
	w.gadget("one", "nothing")
	w.eventually("it works", func() bool { return w.mode("one") == "old" })
	w.gadget("slow", "patience")
	w.eventually("a reconcile runs", low.says("waits for its end"))
	developer := w.replica("developer", priorities...)
	someone := w.User(t, "someone", envtest.InNamespace(priorities...))
	says := func(args ...string) (int, string) {
		var out bytes.Buffer
		code := gadgetOperator().Execute(t.Context(), append(args, "-n", w.Namespace, "--kubeconfig", w.Kubeconfig(t, someone)), &out, &out)
		return code, out.String()
	}
	var high *process
	t.Run("peering 2, 7: the lower one pauses within 2 s, and asks for nothing but Leases", func(t *testing.T) {
		high = w.process(developer, append(w.developer("100"), "--watch.grace", "1s")...)
		began, paused := w.logged(high, worksAmongPeers, 1), w.logged(low, lowerPauses, 1)
		t.Logf("paused after %s", paused.Sub(began))
		assert.Less(t, paused.Sub(began), 2*time.Second)
		ended := w.logged(low, "sees its end", 1)
		assert.InDelta(t, 1, ended.Sub(paused).Seconds(), 0.5, "what runs has the grace time")
		assert.Contains(t, low.log.lines("sees its end")[0], "the grace time of 1s is over")
		w.delete(gadgets, "slow")
		w.eventually("its watches have ended", func() bool {
			mark := w.Mark(t)
			time.Sleep(time.Second)
			return len(w.CallsSince(t, mark, low.user).Filter(func(c audit.Call) bool { return c.Resource != "leases" })) == 0
		})
		mark := w.Mark(t)
		w.gadget("two", "nothing")
		w.eventually("the higher one works", func() bool { return w.mode("two") == "old" })
		assert.Empty(t, w.CallsSince(t, mark, low.user).Filter(func(c audit.Call) bool { return c.Resource != "leases" }))
		assert.True(t, strings.HasPrefix(w.holder(), "operator-low_"), "it stays the leader")
		_, out := says("peers")
		lines := strings.Split(strings.TrimSpace(out), "\n")
		require.Len(t, lines, 3, out)
		assert.Regexp(t, `^PRIORITY +PROCESS +RENEWED +STATE$`, lines[0])
		assert.Regexp(t, `^100 +operator-developer_\w+ +\d+s ago +works$`, lines[1], "peering 12")
		assert.Regexp(t, `^0 +operator-low_\w+ +\d+s ago +paused: operator-developer_\w+ works, which has the higher priority 100$`, lines[2])
	})
	t.Run("peering 7: it goes on when the other one has ended, and reads everything again", func(t *testing.T) {
		high.send(t, syscall.SIGTERM)
		state, _ := high.end(t)
		assert.Zero(t, state.ExitCode())
		ended, goesOn := high.times(t, "stopped")[0], w.logged(low, worksAmongPeers, 2)
		t.Logf("went on %s after the end", goesOn.Sub(ended))
		assert.Less(t, goesOn.Sub(ended), 2*time.Second)
		w.gadget("three", "nothing")
		w.eventually("it works again", func() bool { return w.mode("three") == "old" })
	})
	t.Run("peering 4: or when the Lease of a killed one has run out", func(t *testing.T) {
		high = w.process(developer, w.developer("100")...)
		began := w.logged(high, worksAmongPeers, 1)
		assert.Less(t, w.logged(low, lowerPauses, 2).Sub(began), 2*time.Second)
		time.Sleep(3 * time.Second)
		high.send(t, syscall.SIGKILL)
		high.end(t)
		killed := time.Now()
		w.gadget("four", "nothing")
		goesOn := w.logged(low, worksAmongPeers, 3)
		t.Logf("went on %s after the kill", goesOn.Sub(killed))
		assert.Less(t, goesOn.Sub(killed), 17*time.Second)
		assert.Greater(t, goesOn.Sub(killed), 10*time.Second)
		w.eventually("it works again", func() bool { return w.mode("four") == "old" })
		_, out := says("peers")
		assert.Len(t, strings.Split(strings.TrimSpace(out), "\n"), 2, "the Lease was deleted: %s", out)
	})
	t.Run("peering 5: a freeze, and a thaw", func(t *testing.T) {
		asked := time.Now()
		code, out := says("freeze", "--for", "5m")
		assert.Zero(t, code, out)
		assert.Equal(t, "gadget-operator in namespace "+w.Namespace+" frozen for 5m0s\n", out)
		paused := w.logged(low, frozenPauses, 1)
		t.Logf("frozen after %s", paused.Sub(asked))
		assert.Less(t, paused.Sub(asked), 2*time.Second)
		w.gadget("five", "nothing")
		time.Sleep(2 * time.Second)
		assert.Empty(t, w.mode("five"))
		_, out = says("peers")
		assert.Regexp(t, `(?m)^frozen +\S+@\S+ +\d+s ago +freezes the operator, for (4m|5m)`, out)
		assert.Regexp(t, `(?m)^0 +operator-low_\w+ +\d+s ago +paused: frozen by \S+@\S+, for `, out)
		asked = time.Now()
		code, out = says("thaw")
		assert.Zero(t, code, out)
		assert.Equal(t, "gadget-operator in namespace "+w.Namespace+" thawed\n", out)
		goesOn := w.logged(low, worksAmongPeers, 4)
		t.Logf("thawed after %s", goesOn.Sub(asked))
		w.eventually("it works again", func() bool { return w.mode("five") == "old" })
		_, out = says("thaw")
		assert.Equal(t, "gadget-operator in namespace "+w.Namespace+" wasn't frozen\n", out)
		code, _ = says("freeze", "--for", "5s")
		assert.Zero(t, code)
		asked = w.logged(low, frozenPauses, 2)
		goesOn = w.logged(low, worksAmongPeers, 5)
		t.Logf("a freeze of 5 s lasted %s", goesOn.Sub(asked))
		assert.InDelta(t, 5, goesOn.Sub(asked).Seconds(), 2, "it ends by itself")
	})
	t.Run("peering 3: equal ones both pause, and say so", func(t *testing.T) {
		equal := w.process(developer, w.developer("0")...)
		w.logged(low, equalPauses, 1)
		w.logged(equal, equalPauses, 1)
		w.gadget("six", "nothing")
		time.Sleep(2 * time.Second)
		assert.Empty(t, w.mode("six"))
		_, out := says("peers")
		assert.Equal(t, 2, strings.Count(out, "has the same priority 0: give one of them another priority"), out)
		low.send(t, syscall.SIGTERM)
		state, _ := low.end(t)
		assert.Zero(t, state.ExitCode(), "a process that pauses ends in good order")
		w.eventually("the other one works", func() bool { return w.mode("six") == "old" })
		equal.send(t, syscall.SIGTERM)
		equal.end(t)
	})
	assert.Empty(t, w.Calls(t, low.user, developer, someone).Of("leases.coordination.k8s.io").Forbidden(), "the rights that the README names suffice")
	t.Run("peering 12, commands 3: it fits 80 columns", func(t *testing.T) {
		_, out := says("freeze", "--for", "1s")
		assert.Contains(t, out, "warning: no process of the operator has announced itself in this namespace")
		text := inTerminal(t, 80, 24, nil, "peers", "-n", w.Namespace, "--kubeconfig", w.Kubeconfig(t, someone)).text(t)
		assert.Contains(t, text, "PRIORITY")
		for line := range strings.Lines(text) {
			assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), 80, line)
		}
	})
	for reason, row := range map[string]struct {
		args []string
		want string
	}{
		"no duration":       {[]string{"freeze", "--for", "soon"}, `--for "soon": use a duration such as 10m or 2h`},
		"none":              {[]string{"freeze", "--for", "0s"}, `--for "0s": use a duration`},
		"arguments":         {[]string{"thaw", "now"}, "thaw takes no arguments"},
		"no priority":       {[]string{"run", "--priority", "high"}, `priority "high": use a whole number, such as 100`},
		"a lock per object": {[]string{"run", "--priority", "1", "--leader-election.lock", "per-object"}, "it has no meaning with leader-election.lock per-object"},
		"nowhere":           {[]string{"run", "--priority", "1"}, "peering.priority needs peering.namespace outside of a Pod"},
	} {
		code, out := says(row.args...)
		assert.Equal(t, 2, code, "%s: %s", reason, out)
		assert.Contains(t, out, row.want, reason)
	}
}
