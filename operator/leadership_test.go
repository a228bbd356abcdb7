package operator_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var leases = schema.GroupVersionKind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"}

const leads = "this replica leads"

// brief are times of a lock that a test waits for.
var brief = []string{"--leader-election.duration", "4s", "--leader-election.renew-deadline", "3s", "--leader-election.retry-period", "500ms"}

// replica is the user of one replica, with all rights of an operator and those to its lock that the README names.
func (w *world) replica(name string, rights ...rbacv1.PolicyRule) *envtest.User {
	w.t.Helper()
	all := append([]rbacv1.PolicyRule{own, creating}, patchRights(w.t)...)
	return w.User(w.t, name, envtest.InNamespace(append(all, rights...)...))
}

// holder is who holds the Lease.
func (w *world) holder() string {
	w.t.Helper()
	lease := w.get(leases, "gadget-operator")
	if lease == nil {
		return ""
	}
	holder, _, err := unstructured.NestedString(lease.Object, "spec", "holderIdentity")
	require.NoError(w.t, err)
	return holder
}

func (w *world) gadget(name, of string) {
	w.t.Helper()
	w.create("{apiVersion: operator.operkit.dev/v1, kind: Gadget, metadata: {name: " + name + "}, spec: {of: " + of + "}}")
}

func TestReplicas(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions, patchDefinition(t)))
	var first, second *process
	t.Run("watch 32, 34: in a Pod the operator leads by a Lease", func(t *testing.T) {
		first = w.process(w.replica("first", leading(t)...))
		w.eventually("it leads", first.says(leads))
		assert.True(t, strings.HasPrefix(w.holder(), "operator-first_"), w.holder())
		w.gadget("one", "nothing")
		w.eventually("it works", func() bool { return w.mode("one") == "old" })
	})
	t.Run("watch 7: whoever doesn't lead asks for nothing but the Lease, neither for its kinds nor for patches", func(t *testing.T) {
		second = w.process(w.replica("second", leading(t)...))
		w.eventually("it says who leads", second.says("another replica leads"))
		w.patch("a", gadgets, "new")
		w.eventually("the leader serves patches", func() bool { return w.mode("one") == "new" })
		time.Sleep(3 * time.Second)
		others := w.Calls(t, second.user).Filter(func(c audit.Call) bool { return c.Resource != "leases" && c.Path != "/apis/coordination.k8s.io/v1" })
		assert.Empty(t, others)
	})
	t.Run("watch mistake 6, 7: SIGTERM is an end in good order, and the next one leads at once", func(t *testing.T) {
		first.send(t, syscall.SIGTERM)
		start := time.Now()
		w.eventually("the other takes over", second.says(leads))
		assert.Less(t, time.Since(start), 10*time.Second, "it doesn't wait until the Lease has run out")
		state, _ := first.end(t)
		assert.Zero(t, state.ExitCode())
		w.gadget("two", "nothing")
		w.eventually("it works", func() bool { return w.mode("two") == "old" })
		w.delete(temporarypatch.DefaultKind, "a")
		w.eventually("patches are served again", func() bool { return w.mode("one") == "old" })
	})
	assert.Empty(t, w.Calls(t, first.user, second.user).Of("leases.coordination.k8s.io").Forbidden(), "the rights that the README names suffice")
	for _, p := range []*process{first, second} {
		assert.Len(t, p.log.lines(leads), 1)
		assert.Empty(t, p.log.lines("outside of a Pod"))
		assert.Empty(t, p.log.lines("level=ERROR"))
	}
}

func TestLeadershipLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions))
	t.Run("watch mistake 6: a running reconcile is cancelled at once, and the process ends with what has happened", func(t *testing.T) {
		p := w.process(w.replica("first", leading(t)...), brief...)
		w.eventually("it leads", p.says(leads))
		w.gadget("one", "patience")
		w.eventually("a reconcile runs", p.says("waits for its end"))
		start := time.Now()
		w.steal("thief")
		state, _ := p.end(t)
		assert.Equal(t, 1, state.ExitCode())
		assert.Less(t, time.Since(start), 5*time.Second, "without a grace time")
		assert.Len(t, p.log.lines("sees its end"), 1)
		assert.Equal(t, "gadget-operator: Lease "+w.Namespace+"/gadget-operator: leadership lost: thief leads\n", lastLine(p))
		assert.Equal(t, "thief", w.holder(), "what another one holds is left alone")
	})
	t.Run("watch 34: the process that follows waits for what another one holds", func(t *testing.T) {
		p := w.process(w.replica("second", leading(t)...), brief...)
		start := time.Now()
		w.eventually("it leads", p.says(leads))
		assert.Greater(t, time.Since(start), 3*time.Second)
		w.delete(gadgets, "one")
		p.send(t, syscall.SIGTERM)
		p.end(t)
	})
	t.Run("watch mistake 6: what doesn't notice the loss sends nothing any more, and holds nothing up for long", func(t *testing.T) {
		p := w.process(w.replica("third", leading(t)...), brief...)
		w.eventually("it leads", p.says(leads))
		w.gadget("two", "stubbornness")
		w.eventually("a reconcile runs", p.says("never ends"))
		w.steal("thief")
		w.eventually("it notices", p.says("this replica doesn't lead any more"))
		mark := w.Mark(t)
		w.gadget("three", "nothing")
		state, took := p.end(t)
		assert.Equal(t, 1, state.ExitCode())
		assert.Less(t, took, 15*time.Second)
		assert.Contains(t, lastLine(p), "leadership lost: thief leads\n")
		assert.Len(t, p.log.lines("the leadership is lost, but reconciles don't end"), 1)
		assert.Empty(t, w.CallsSince(t, mark, p.user))
	})
}

// steal has somebody take the Lease by force.
func (w *world) steal(by string) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		lease := w.get(leases, "gadget-operator")
		require.NoError(w.t, unstructured.SetNestedField(lease.Object, by, "spec", "holderIdentity"))
		_, err := w.api.Port().Update(w.t.Context(), lease, deploy.UpdateOptions{FieldManager: "somebody"})
		return err == nil // else it was renewed meanwhile
	}, patience, 10*time.Millisecond)
}

func lastLine(p *process) string {
	last := ""
	for line := range strings.Lines(p.log.String()) {
		last = line
	}
	return last
}

func TestLeadershipWithoutRights(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions))
	p := w.process(w.replica("first"))
	const trouble = "the lock can't be read or written"
	w.eventually("it says what is missing", p.says(trouble))
	assert.Contains(t, p.log.lines(trouble)[0], `grant="get, create and update of leases.coordination.k8s.io in namespace `+w.Namespace+`"`)
	w.gadget("one", "nothing")
	time.Sleep(4 * time.Second)
	assert.Len(t, p.log.lines(trouble), 1, "once")
	assert.Empty(t, w.mode("one"), "watch mistake 3: without the lock it doesn't work")
	w.create(`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: late}, rules: [
		{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, create, update]}]}`)
	w.create(`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: late},
		roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: late},
		subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: "` + p.user.Name + `"}]}`)
	w.eventually("rights that come later are found", func() bool { return w.mode("one") == "old" })
	p.send(t, syscall.SIGINT)
	state, _ := p.end(t)
	assert.Zero(t, state.ExitCode(), "watch mistake 7: SIGINT is an end in good order")
}

func TestSignals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions))
	t.Run("watch 8: what runs may end, and the leadership is released last", func(t *testing.T) {
		p := w.process(w.replica("first", leading(t)...))
		w.eventually("it leads", p.says(leads))
		w.gadget("slow", "time")
		w.eventually("a reconcile runs", p.says("takes its time"))
		p.send(t, syscall.SIGTERM)
		time.Sleep(500 * time.Millisecond)
		w.gadget("late", "nothing")
		assert.True(t, strings.HasPrefix(w.holder(), "operator-first_"), "it holds the Lease while it winds up")
		p.letGo(t)
		state, _ := p.end(t)
		assert.Zero(t, state.ExitCode())
		assert.Equal(t, "old", w.mode("slow"), "the reconcile was finished")
		assert.Empty(t, w.mode("late"), "nothing new was begun")
		assert.Empty(t, w.holder(), "it is free")
		assert.Less(t, strings.Index(p.log.String(), "takes its time"), strings.Index(p.log.String(), "the leadership was released"))
	})
	for _, second := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run("watch 8: a second signal ends it at once: "+second.String(), func(t *testing.T) {
			name := "second-" + strings.ToLower(second.String())
			p := w.process(w.replica(name, leading(t)...), "--leader-election.name", name)
			w.eventually("it leads", p.says(leads))
			w.gadget(name, "stubbornness")
			w.eventually("a reconcile runs", p.says("never ends"))
			p.send(t, syscall.SIGTERM)
			time.Sleep(time.Second)
			require.False(t, p.ended(), "the first one gives it a grace time")
			p.send(t, second)
			state, took := p.end(t)
			assert.Less(t, took, time.Second)
			assert.Equal(t, second, state.Sys().(syscall.WaitStatus).Signal())
			w.delete(gadgets, name)
		})
	}
}

func TestLeadershipForLife(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions))
	w.create("{apiVersion: v1, kind: Pod, metadata: {name: operator-first}, spec: {containers: [{name: operator, image: operator}]}}")
	p := w.process(w.replica("first", rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}), "--leader-election.lock", "for-life")
	w.eventually("it leads", p.says(leads))
	owners := w.get(configMaps, "gadget-operator").GetOwnerReferences()
	require.Len(t, owners, 1)
	assert.Equal(t, "operator-first", owners[0].Name, "watch 33: the Pod owns the ConfigMap")
	w.gadget("one", "nothing")
	w.eventually("it works", func() bool { return w.mode("one") == "old" })
	assert.Empty(t, w.Calls(t, p.user).Of("leases.coordination.k8s.io"))
}

func TestLeadershipOutsideOfAPod(t *testing.T) {
	t.Parallel()
	const without = "leader election is off outside of a Pod: every process"
	w := newWorld(t, envtest.CRDs(definitions))
	t.Run("watch 36: there is no lock, which is said", func(t *testing.T) {
		r := w.start(gadgets, nil)
		w.resource(gadgets, "one")
		w.eventually("it works", func() bool { return w.mode("one") == "old" })
		r.stop()
		assert.Len(t, r.log.lines(without), 1)
		assert.Empty(t, w.Calls(t, r.user).Of("leases.coordination.k8s.io"))
	})
	t.Run("watch 32: unless the operator was built with one", func(t *testing.T) {
		r := w.start(gears, leading(t), operator.Defaults(func(c *config.Config) {
			c.LeaderElection.Lock, c.LeaderElection.Name, c.LeaderElection.Namespace = config.LeaseLock, "gears", w.Namespace
		}))
		w.resource(gears, "two")
		w.eventually("it works", func() bool { return w.mode("two") == "old" })
		r.stop()
		assert.Empty(t, r.log.lines(without))
		assert.NotEmpty(t, w.Calls(t, r.user).Writes().Of("leases.coordination.k8s.io"))
	})
}

func TestLeadershipPerObject(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions, patchDefinition(t)))
	flags := append([]string{"--leader-election.lock", "per-object"}, brief...)
	replicas := []*process{w.process(w.replica("first"), flags...), w.process(w.replica("second"), flags...)}
	for _, p := range replicas {
		w.eventually("it watches", p.says("watching kind=Gadget"))
		w.eventually("also for patches", p.says("watching kind=TemporaryPatch"))
	}
	begun := func() int {
		return len(replicas[0].log.lines("takes its time")) + len(replicas[1].log.lines("takes its time"))
	}
	w.gadget("one", "time")
	w.eventually("watch 35: one of the two works on it", func() bool { return begun() == 1 })
	time.Sleep(1500 * time.Millisecond)
	assert.Equal(t, 1, begun(), "the other doesn't meanwhile")
	holder := w.get(gadgets, "one").GetAnnotations()["operkit.dev/lease-name"]
	assert.Regexp(t, "^operator-(first|second)_", holder)
	for _, p := range replicas {
		p.letGo(t)
	}
	w.eventually("then it does", func() bool {
		return replicas[0].says("takes its time")() && replicas[1].says("takes its time")()
	})
	w.eventually("the lock is released", func() bool { return w.get(gadgets, "one").GetAnnotations()["operkit.dev/lease-name"] == "" })
	assert.Equal(t, "old", w.mode("one"))
	w.patch("a", gadgets, "new")
	w.eventually("patches are served", func() bool { return w.mode("one") == "new" })
	w.eventually("watch mistake 8: it comes to rest", func() bool {
		mark := w.Mark(t)
		time.Sleep(2 * time.Second) // longer than the pause before the other one looks again
		return len(w.CallsSince(t, mark, replicas[0].user, replicas[1].user).Writes()) == 0
	})
	for _, p := range replicas {
		assert.Empty(t, w.Calls(t, p.user).Of("leases.coordination.k8s.io"))
		p.send(t, syscall.SIGTERM)
		state, _ := p.end(t)
		assert.Zero(t, state.ExitCode())
	}
}
