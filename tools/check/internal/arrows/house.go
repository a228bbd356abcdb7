package arrows

const (
	apimachinery = "k8s.io/apimachinery/..."
	// mergeDiff implements server-side apply; the in-memory cluster uses it.
	mergeDiff = "sigs.k8s.io/structured-merge-diff/v6/..."
	// openAPI converts the schemas of CustomResourceDefinitions to schemas for mergeDiff.
	openAPI  = "k8s.io/kube-openapi/..."
	clientGo = "k8s.io/client-go/..."
	// api holds the types in the signatures of client-go, so a module that may import client-go has this module
	// already.
	api   = "k8s.io/api/..."
	yaml  = "sigs.k8s.io/yaml/..."
	celGo = "cel.dev/cel-go/..."
	// apiServer and definitions are the API server's own libraries.
	apiServer   = "k8s.io/apiserver/..."
	definitions = "k8s.io/apiextensions-apiserver/..."
	// cbor is the encoding between processes; apimachinery requires it already.
	cbor  = "github.com/fxamacker/cbor/..."
	goGit = "github.com/go-git/..."
	// cobra and terminal are the libraries for commands.
	cobra    = "github.com/spf13/..."
	terminal = "golang.org/x/term/..."
	// openTelemetry creates and exports traces.
	openTelemetry = "go.opentelemetry.io/..."
	tools         = "./tools/..."
	// sync may be used by every module.
	sync   = "golang.org/x/sync/..."
	sprig  = "github.com/Masterminds/sprig/..."
	sprout = "github.com/go-sprout/sprout/..."
	// blake2b is the hash in the annotations of kopf's operators; sprig requires the module already.
	blake2b = "golang.org/x/crypto/blake2b"
	// cron parses the expressions of CronJobs; it requires nothing.
	cron = "github.com/robfig/cron/v3"
)

var (
	// libraries are the packages that users import.
	libraries = []string{"./dag/...", "./smp/...", "./status/...", "./vcs/...", "./deploy/...", "./reconcile/...", "./operator/..."}

	// everything is every package of the repository. uncoupled are the packages of modules that no other module
	// requires.
	everything = []string{"./..."}
	uncoupled  = []string{"./tools/bench/...", "./tools/peers/..."}

	// sessions are the packages of reconcile that may know sessions: the style of components, and what is only for it.
	sessions = []string{
		"./reconcile", "./reconcile/templates/...", "./reconcile/manifest/...", "./reconcile/temporarypatch/...", "./reconcile/versions/...",
		"./reconcile/reconciletest/...",
		"./reconcile/kit/jobs", "./reconcile/kit/labels", "./reconcile/kit/podhash", "./reconcile/kit/size", "./reconcile/kit/tls",
	}
)

// House is the design's table.
var House = Policy{
	Rooms: []Room{
		// The ground rooms: none of them imports another room.
		{Module: "dag"},
		{Module: "smp", Libraries: []string{apimachinery, yaml}},
		{Module: "status", Libraries: []string{apimachinery}},
		{Module: "vcs", Libraries: []string{goGit}},
		{Module: "deploy", Libraries: []string{clientGo, api, apimachinery, mergeDiff, openAPI, yaml}},
		// A command of vcs.
		{Module: "vcs/setupcommand", Siblings: []string{"./vcs/..."}, Libraries: []string{cobra, terminal}},
		{
			Module:    "reconcile",
			Siblings:  []string{"./dag/...", "./smp/...", "./status/...", "./deploy/..."},
			Libraries: []string{clientGo, api, apimachinery, yaml, celGo, sprig, sprout, blake2b, cron},
		},
		// What nearly every operator needs beside its own objects.
		{Module: "reconcile/kit", Siblings: []string{"./status/...", "./deploy/...", "./reconcile/..."}, Libraries: []string{api, apimachinery}},
		// Readiness of a kind by CEL, for reconcile and status/readiness.
		{Module: "reconcile/celready", Siblings: []string{"./status/...", "./reconcile/..."}, Libraries: []string{apimachinery, celGo}},
		// Rules in CEL as the API server evaluates them, for tests and builds.
		{
			Module:    "reconcile/admission/rule/ruletest",
			Siblings:  []string{"./reconcile/admission/rule"},
			Libraries: []string{api, apimachinery, apiServer, definitions, yaml},
		},
		// Runs versions of an operator, for reconcile.
		{
			Module:    "reconcile/versions",
			Siblings:  []string{"./dag/...", "./deploy/...", "./reconcile/...", "./status/..."},
			Libraries: []string{apimachinery, cbor},
		},
		// They wire the other libraries and may use any library, but nothing from examples or tools.
		{Module: "operator", Siblings: libraries, Any: true},
		{Module: "operator/full", Siblings: libraries, Any: true},
		// They show how to use the libraries. Only a demo starts a control plane, through tools/envtest.
		{Module: "examples", Siblings: append([]string{"./tools/envtest/..."}, libraries...), Any: true},
		// It writes files, and doesn't link the libraries. A test of it imports operator/full.
		{
			Module:    "tools/operkit",
			Siblings:  []string{"./operator/full/..."},
			Libraries: []string{cobra, yaml, "golang.org/x/mod/...", "golang.org/x/tools/txtar", "github.com/gobuffalo/flect/..."},
		},
	},
	Bans: []Ban{
		{
			From: []string{"./status/...", "./smp/..."}, To: []string{api, clientGo}, Links: true,
			Reason: "it works on typed and unstructured objects and links no clients: no k8s.io/api, no client-go",
		},
		{
			From: []string{"./vcs/..."}, To: []string{"k8s.io/...", "sigs.k8s.io/..."}, Links: true, Tests: true,
			Reason: "vcs has no Kubernetes at all",
		},
		{
			From: []string{"./vcs/..."}, Except: []string{"./vcs/setupcommand/..."}, To: []string{"./vcs/setupcommand/..."}, Links: true, Tests: true,
			Reason: "vcs is also for programs without commands, so it must not import its own command",
		},
		{
			From: []string{"./reconcile/..."}, Except: sessions, To: []string{"./reconcile"}, Links: true,
			Reason: "only the packages in sessions know sessions and components; all others are for every style of reconciler",
		},
		{
			From: []string{
				"./reconcile", "./reconcile/request/...", "./reconcile/standing/...", "./reconcile/pause/...", "./reconcile/patching/...",
				"./reconcile/source/...", "./reconcile/filter/...", "./reconcile/internal/lifecycle/...",
			},
			To:     []string{"./reconcile/watch/..."},
			Links:  true,
			Reason: "the engine drives reconcilers, which don't know it; requests, sources and filters are below both",
		},
		{
			From: []string{"./reconcile/..."}, Except: []string{"./reconcile/celready/..."}, To: []string{celGo}, Links: true,
			Reason: "cel-go is for reconcile/celready only",
		},
		{
			From: libraries, Except: []string{"./reconcile/admission/rule/ruletest/..."}, To: []string{apiServer, definitions, "./reconcile/admission/rule/ruletest/..."},
			Links:  true,
			Reason: "the API server's libraries are for tests and builds: no operator links reconcile/admission/rule/ruletest",
		},
		{
			From: []string{"./reconcile/..."}, Except: []string{"./reconcile/templates/..."}, To: []string{sprig, sprout}, Links: true,
			Reason: "a library of template functions is for reconcile/templates only",
		},
		{
			From: []string{"./reconcile/..."}, Except: []string{
				"./reconcile/templates/...", "./reconcile/manifest/...", "./reconcile/internal/document/...", "./reconcile/admission/rule/ruletest/...",
			},
			To: []string{yaml},
			Reason: "sigs.k8s.io/yaml is for what people read and write: reconcile/templates, reconcile/manifest, reconcile/internal/document and " +
				"reconcile/admission/rule/ruletest",
		},
		{
			From: []string{"./operator/..."}, Except: []string{"./operator/full/..."}, To: []string{"./vcs/...", goGit, "./operator/full/...", openTelemetry}, Links: true,
			Reason: "operator is the lean core; versions by vcs and traces belong to operator/full",
		},
		{
			From: []string{"./examples/..."}, Except: []string{"./examples/*/demo/..."}, To: []string{tools},
			Reason: "an example is what a user copies; only a demo starts a control plane",
		},
		{
			From: libraries, To: []string{tools}, Links: true,
			Reason: "a library imports tools in tests only",
		},
		{
			From:   everything,
			Except: append([]string{"./tools/devcluster/..."}, uncoupled...),
			To:     []string{"github.com/stretchr/testify/...", "go.uber.org/goleak/..."},
			Reason: "testify and goleak are for tests",
		},
		{
			From: []string{"./tools/envtest/..."}, Links: true, Tests: true,
			To:     []string{"k8s.io/kubernetes/...", "k8s.io/apiserver/...", "go.etcd.io/etcd/..."},
			Reason: "tools/envtest runs the control plane as a program; it never links Kubernetes' servers",
		},
		{
			From: []string{"./tools/envtest/program/..."}, To: []string{"./tools/envtest", "k8s.io/...", "sigs.k8s.io/..."}, Links: true,
			Reason: "tools/envtest/program starts programs of any kind: the standard library, no Kubernetes",
		},
		{
			From: []string{"./tools/operkit/..."}, To: libraries, Links: true,
			Reason: "tools/operkit must not link the libraries that its projects use",
		},
		{
			From: everything, Except: uncoupled, Links: true, Tests: true,
			To: []string{
				"sigs.k8s.io/controller-runtime/...", "sigs.k8s.io/cli-utils/...", "github.com/fluxcd/...", "github.com/heimdalr/dag/...",
			},
			Reason: "only tools/bench and tools/peers link a peer",
		},
		{
			From: everything, Except: uncoupled, Tests: true,
			To:     []string{"github.com/evanphx/json-patch/...", "gopkg.in/evanphx/json-patch.v4/..."},
			Reason: "only tools/bench and tools/peers import a peer",
		},
	},
}
