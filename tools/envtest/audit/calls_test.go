package audit_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/operkit/operkit/tools/envtest/audit"
)

func call(verb, group, resource string) audit.Call {
	return audit.Call{Verb: verb, Group: group, Resource: resource, User: "me", Code: 200}
}

func TestCallsAreOneThingEach(t *testing.T) {
	t.Parallel()
	dry := call("create", "", "configmaps")
	dry.DryRun = true
	tests := map[string]struct {
		reason                          string
		call                            audit.Call
		writes, reads, watches, dryRuns int
	}{
		"get":              {"", call("get", "", "secrets"), 0, 1, 0, 0},
		"list":             {"", call("list", "", "secrets"), 0, 1, 0, 0},
		"watch":            {"", call("watch", "", "secrets"), 0, 0, 1, 0},
		"create":           {"", call("create", "", "secrets"), 1, 0, 0, 0},
		"update":           {"", call("update", "", "secrets"), 1, 0, 0, 0},
		"patch":            {"", call("patch", "", "secrets"), 1, 0, 0, 0},
		"delete":           {"", call("delete", "", "secrets"), 1, 0, 0, 0},
		"deletecollection": {"", call("deletecollection", "", "secrets"), 1, 0, 0, 0},
		"dry run":          {"nothing is stored", dry, 0, 0, 0, 1},
		"access review":    {"it is created to ask", call("create", "authorization.k8s.io", "selfsubjectaccessreviews"), 0, 0, 0, 0},
		"token review":     {"it is created to ask", call("create", "authentication.k8s.io", "tokenreviews"), 0, 0, 0, 0},
		"discovery":        {"no resource is read", audit.Call{Verb: "get", Path: "/apis"}, 0, 0, 0, 0},
		"post to a path":   {"no resource is written", audit.Call{Verb: "create", Path: "/x"}, 0, 0, 0, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := audit.Calls{test.call}
			assert.Len(t, calls.Writes(), test.writes, test.reason)
			assert.Len(t, calls.Reads(), test.reads, test.reason)
			assert.Len(t, calls.Watches(), test.watches, test.reason)
			assert.Len(t, calls.DryRuns(), test.dryRuns, test.reason)
		})
	}
}

func TestCallsFilters(t *testing.T) {
	t.Parallel()
	status := call("patch", "apps", "deployments")
	status.Subresource, status.Namespace, status.Name, status.Code = "status", "ns", "web", 409
	core := call("get", "", "deployments")
	core.User = "you"
	discovery := audit.Call{Verb: "get", Path: "/apis/apps", User: "me"}
	calls := audit.Calls{status, core, discovery}
	assert.Equal(t, audit.Calls{status}, calls.Of("deployments.apps"), "with its subresources")
	assert.Equal(t, audit.Calls{status}, calls.Of("deployments.apps/status"))
	assert.Equal(t, audit.Calls{core}, calls.Of("deployments"), "another group is another resource")
	assert.Empty(t, calls.Of("/apis"), "a path has no subresources")
	assert.Equal(t, audit.Calls{discovery}, calls.Of("/apis/apps"))
	assert.Equal(t, audit.Calls{status}, calls.In("ns"))
	assert.Equal(t, audit.Calls{core}, calls.By("you"))
	assert.Equal(t, audit.Calls{core, discovery}, calls.With("get", "list"))
	assert.Equal(t, audit.Calls{status}, calls.Failed())
	assert.Nil(t, audit.Calls(nil).Writes())
	assert.Len(t, calls, 3, "none of it changed the calls")
}

func ExampleCalls() {
	calls := audit.Calls{
		{Verb: "create", Group: "apps", Resource: "deployments", Namespace: "shop", Name: "web", User: "operator", Code: 201},
		{Verb: "get", Resource: "secrets", Namespace: "shop", Name: "password", User: "operator", Code: 404},
		{Verb: "patch", Group: "apps", Resource: "deployments", Subresource: "status", Namespace: "shop", Name: "web", User: "system", Code: 200},
	}
	own := calls.By("operator")
	fmt.Println(len(own.Writes()), "write,", len(own.Reads()), "read")
	fmt.Println(own.Writes())
	fmt.Println(calls.Of("deployments.apps").Count())
	// Output:
	// 1 write, 1 read
	// create deployments.apps shop/web -> 201 by operator
	// map[create deployments.apps:1 patch deployments.apps/status:1]
}

// What a test wants to know of calls it asks by filters, which can be put one behind the other.
func ExampleCalls_Filter() {
	calls := audit.Calls{
		{Verb: "watch", Resource: "secrets", Namespace: "shop", Code: 200},
		{Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "shop", Name: "web", Code: 200, DryRun: true},
		{Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "shop", Name: "web", Code: 409},
		{Verb: "list", Resource: "secrets", Namespace: "bank", Code: 403},
		{Verb: "get", Path: "/version", Code: 200},
	}
	fmt.Println(len(calls.Watches()), "watch,", len(calls.DryRuns()), "dry run,", len(calls.Failed()), "failed,", len(calls.Forbidden()), "forbidden")
	fmt.Println(calls.In("shop").With("patch").Failed().Count())
	for _, call := range calls.Filter(func(call audit.Call) bool { return call.Name == "" }) {
		fmt.Println(call.Target(), call.IsWrite(), call.IsRead(), call.IsWatch())
	}
	// Output:
	// 1 watch, 1 dry run, 2 failed, 1 forbidden
	// map[patch deployments.apps:1]
	// secrets false false true
	// secrets false true false
	// /version false false false
}
