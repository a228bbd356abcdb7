package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// soakVariable asks for many upgrades, seedVariable for the one of a seed.
	soakVariable = "OPERKIT_SOAK"
	seedVariable = "OPERKIT_SOAK_SEED"

	soakPasses = 20
	// town is how many sites there are.
	town = 20
)

// TestUpgradeWhileReleasesAreKilled upgrades sites one by one while both releases run, and are killed at random
// moments, edits some meanwhile, and wants all to be as if nobody had been killed. By default it does so once, `make
// soak` twenty times.
func TestUpgradeWhileReleasesAreKilled(t *testing.T) {
	seed, passes := uint64(time.Now().UnixNano()), 1
	if os.Getenv(soakVariable) != "" {
		passes = soakPasses
	}
	if given := os.Getenv(seedVariable); given != "" {
		var err error
		seed, err = strconv.ParseUint(given, 10, 64)
		require.NoError(t, err, "%s is the number that a failed run printed", seedVariable)
	}
	for n := range passes {
		t.Run(fmt.Sprintf("%s=%d", seedVariable, seed+uint64(n)), func(t *testing.T) {
			u := newUpgrade(t, seed+uint64(n))
			u.happen()
			u.wantAllUpgraded()
			u.wantNoProcessLeft()
		})
	}
}

// upgrade is one of a town of sites.
type upgrade struct {
	*world
	manager *manager
	dice    *rand.Rand
	names   []string
	// texts are what sites show in the end, uids the objects that both releases render.
	texts map[string]string
	uids  map[string]string
	kills int

	mu sync.Mutex
	// deleted are objects that anybody has deleted meanwhile.
	deleted []string
}

// newUpgrade has all sites be there in 1.0.0.
func newUpgrade(t *testing.T, seed uint64) *upgrade {
	t.Helper()
	u := &upgrade{world: newWorld(t), dice: rand.New(rand.NewPCG(seed, 0)), texts: map[string]string{}}
	u.manager = u.run(folder(t, "1.0.0", "1.1.0"), "--log.level", "debug")
	for n := range town {
		name := fmt.Sprintf("site-%02d", n)
		u.names, u.texts[name] = append(u.names, name), "This is "+name
		u.create(name, "1.0.0")
	}
	u.settled("1.0.0")
	u.uids = u.inBoth()
	require.Len(t, u.uids, 2*town)
	for _, kind := range rendered {
		subscription, err := u.api.View().Subscribe(t.Context(), kind, u.see)
		require.NoError(t, err)
		require.NoError(t, subscription.Synced(t.Context()))
	}
	return u
}

// see notes what is deleted.
func (u *upgrade) see(event deploy.Event) {
	if event.Type != deploy.Deleted {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.deleted = append(u.deleted, event.New.GetKind()+"/"+event.New.GetName())
}

// inBoth are the objects that both releases render, with their uids.
func (u *upgrade) inBoth() map[string]string {
	u.t.Helper()
	found := map[string]string{}
	for _, name := range u.names {
		for object, uid := range u.objects(name) {
			if object == "Deployment/"+name || object == "ServiceAccount/"+name {
				found[object] = string(uid)
			}
		}
	}
	return found
}

// happen upgrades the sites in some order, with edits and kills in between, and a few kills more until all is done.
func (u *upgrade) happen() {
	u.t.Helper()
	begun := time.Now()
	for _, at := range u.dice.Perm(town) {
		u.upgrade(u.names[at], "1.1.0")
		if u.dice.IntN(3) > 0 {
			u.pause(40 * time.Millisecond)
			u.kill()
		}
		if other := u.names[u.dice.IntN(town)]; u.dice.IntN(2) == 0 {
			u.texts[other] += ", edited"
			u.edit(other, fmt.Sprintf(`{"text":%q}`, u.texts[other]))
		}
		u.pause(80 * time.Millisecond)
	}
	for range 4 {
		u.pause(300 * time.Millisecond)
		u.kill()
	}
	u.settled("1.1.0")
	took := time.Since(begun)
	u.AwaitQuiet(u.t, u.operator)
	met := 0
	for line := range strings.Lines(u.manager.Output()) {
		if strings.Contains(line, "msg=reconciled") && strings.Contains(line, "signal: killed") {
			met++
		}
	}
	u.t.Logf("%d releases killed, met by %d reconciles, all upgraded after %s", u.kills, met, took.Round(time.Millisecond))
	assert.Positive(u.t, met, "some kill is met")
}

func (u *upgrade) pause(longest time.Duration) {
	time.Sleep(time.Duration(u.dice.Int64N(int64(longest))))
}

// kill ends one of the releases that run.
func (u *upgrade) kill() {
	u.t.Helper()
	children := u.manager.children(u.t)
	if len(children) == 0 {
		return
	}
	pid := children[u.dice.IntN(len(children))]
	// A process that was found stays the one that is meant, whoever has its number later.
	victim, err := os.FindProcess(pid)
	require.NoError(u.t, err)
	defer func() { _ = victim.Release() }()
	if parentOf(pid) != u.manager.PID() {
		return // it has ended by itself
	}
	if victim.Signal(syscall.SIGKILL) == nil {
		u.kills++
	}
}

// children are the processes that the manager has started, the releases.
func (m *manager) children(t *testing.T) (pids []int) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	require.NoError(t, err)
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && pid > 1 && parentOf(pid) == m.PID() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parentOf is the process that started one, 0 if that is gone.
func parentOf(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name of the program is in parentheses, and may be anything; then come the state and the parent.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0
	}
	return parent
}

func (u *upgrade) wantAllUpgraded() {
	t := u.t
	t.Helper()
	var all, former []string
	for _, name := range u.names {
		site := u.Get(sites, name)
		require.True(t, isIn(site, "1.1.0"), name)
		content, _ := site.Object["status"].(map[string]any)
		assert.Equal(t, []any{map[string]any{"name": "1.0.0"}, map[string]any{"name": "1.1.0"}}, nested(t, content, "versions", "available", "versions"))
		assert.Equal(t, "3/3", nested(t, content, "componentStatus", "verified"))
		assert.Equal(t, string(status.ReadyStable), conditionOf(site, status.ConditionReady).Reason)
		objects := u.objects(name)
		assert.ElementsMatch(t, wanted(name, "1.1.0"), names(objects))
		all, former = append(all, wanted(name, "1.1.0")...), append(former, "ConfigMap/"+name+"-page")
		assert.Equal(t, u.texts[name], nested(t, u.Get(configMaps, name+"-content").Object, "data", "index.html"), "an edit isn't lost")
		assert.Equal(t, int64(1), nested(t, u.Get(deployments, name).Object, "status", "readyReplicas"))
	}
	assert.Equal(t, u.uids, u.inBoth(), "what both releases render is what it was")
	u.mu.Lock()
	assert.ElementsMatch(t, former, u.deleted, "what 1.1.0 doesn't render is deleted, once, and nothing else ever was")
	u.mu.Unlock()
	u.wantNoOrphan(all)
	refused := u.Calls(t, u.operator).Failed().Filter(func(call audit.Call) bool { return call.Code != http.StatusConflict })
	assert.Empty(t, refused, "but for statuses of sites that have been edited meanwhile")
}

// wantNoOrphan wants the namespace to hold these objects, each of a site that there is, and nothing besides but what
// belongs to them.
func (u *upgrade) wantNoOrphan(all []string) {
	t := u.t
	t.Helper()
	owners := map[string]bool{}
	for _, kind := range []string{"Site", "Deployment"} {
		for _, owner := range u.List(map[string]schema.GroupVersionKind{"Site": sites, "Deployment": deployments}[kind]) {
			owners[string(owner.GetUID())] = true
		}
	}
	var found []string
	for _, kind := range append(slices.Clone(rendered), replicaSets) {
		for _, obj := range u.List(kind) {
			if name := obj.GetName(); name == "default" || name == "kube-root-ca.crt" {
				continue // of every namespace
			}
			require.Len(t, obj.GetOwnerReferences(), 1, "%s %s", obj.GetKind(), obj.GetName())
			assert.True(t, owners[string(obj.GetOwnerReferences()[0].UID)], "%s %s: its owner is there", obj.GetKind(), obj.GetName())
			if kind != replicaSets {
				found = append(found, obj.GetKind()+"/"+obj.GetName())
			}
		}
	}
	assert.ElementsMatch(t, all, found)
}

func nested(t *testing.T, content map[string]any, path ...string) any {
	t.Helper()
	value, _, err := unstructured.NestedFieldNoCopy(content, path...)
	require.NoError(t, err)
	return value
}

// wantNoProcessLeft wants the end of the manager to be that of its releases.
func (u *upgrade) wantNoProcessLeft() {
	t := u.t
	t.Helper()
	// One that was killed and isn't wanted any more isn't started again.
	require.NotEmpty(t, u.manager.children(t))
	require.NotEmpty(t, processesIn(t, u.manager.directory))
	require.Zero(t, u.manager.Stop(t))
	assert.Empty(t, processesIn(t, u.manager.directory))
}

// processesIn are those that work in a folder of a directory: releases do, each in its own, whoever is their parent by
// now.
func processesIn(t *testing.T, directory string) (pids []string) {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	require.NoError(t, err)
	for _, link := range links {
		if where, err := os.Readlink(link); err == nil && filepath.Dir(where) == directory {
			pids = append(pids, link)
		}
	}
	return pids
}
