package operator_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
)

// person is somebody at a terminal, with an operator's program.
type person struct {
	w          *world
	user       *envtest.User
	kubeconfig string
}

// person has the rights to look at gadgets and to annotate them.
func (w *world) person(name string, verbs ...string) *person {
	w.t.Helper()
	user := w.User(w.t, name, envtest.InNamespace(rbacv1.PolicyRule{Verbs: verbs, APIGroups: []string{"operator.operkit.dev"}, Resources: []string{"*"}}))
	return &person{w, user, w.Kubeconfig(w.t, user)}
}

// says runs a command of an operator of gadgets and gears.
func (p *person) says(args ...string) (code int, stdout, stderr string) {
	p.w.t.Helper()
	op := operator.New("gadget-operator")
	op.Control(settings{gadgets})
	op.Control(settings{gears})
	var out, log bytes.Buffer
	code = op.Execute(p.w.t.Context(), append(args, "--kubeconfig", p.kubeconfig), &out, &log)
	return code, out.String(), log.String()
}

func TestCommandsAgainstACluster(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions, patchDefinition(t)))
	w.run("gadget-operator", gadgetOperator(), w.replica("operator"), "--namespace", w.Namespace)
	for _, name := range []string{"one", "two"} {
		w.resource(gadgets, name)
	}
	w.eventually("it works", func() bool { return w.mode("one") == "old" && w.mode("two") == "old" })
	someone := w.person("someone", "get", "list", "patch")
	in := []string{"-n", w.Namespace}
	w.eventually("it says so", func() bool {
		_, out, _ := someone.says(append(in, "status", "gadgets")...)
		return strings.Count(out, "Stable") == 2
	})
	annotation := func(name, key string) string { return w.get(gadgets, name).GetAnnotations()["operkit.dev/"+key] }

	t.Run("status: a table", func(t *testing.T) {
		code, out, log := someone.says(append(in, "status", "gadgets")...)
		require.Zero(t, code, log)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		require.Len(t, lines, 3, out)
		assert.Equal(t, []string{"KIND", "NAME", "READY", "REASON", "COMPONENTS", "AGE", "MESSAGE"}, strings.Fields(lines[0]))
		assert.Regexp(t, `^Gadget +one +True +Stable +\d/\d +\S+$`, lines[1])
		assert.Regexp(t, `^Gadget +two +True +Stable +\d/\d +\S+$`, lines[2])
	})
	t.Run("status: of one, at length", func(t *testing.T) {
		code, out, log := someone.says(append(in, "status", "gadget/one")...)
		require.Zero(t, code, log)
		assert.Contains(t, out, "Gadget       "+w.Namespace+"/one\nReady        True  Stable\n")
		assert.Regexp(t, `(?m)^COMPONENT +STATE`, out)
		assert.Regexp(t, `(?m)^Updating +False +Stable +`, out)
		code, out, _ = someone.says(append(in, "status", "gadget", "one", "-o", "json")...)
		require.Zero(t, code)
		var got map[string]any
		require.NoError(t, json.Unmarshal([]byte(out), &got))
		assert.Equal(t, "True", got["ready"])
		code, out, _ = someone.says(append(in, "status", "gadget", "-o", "yaml", "-l", "no=such")...)
		require.Zero(t, code)
		assert.Equal(t, "[]\n", out)
	})
	t.Run("pause and resume", func(t *testing.T) {
		code, out, log := someone.says(append(in, "pause", "gadget/one", "--until", "2h")...)
		require.Zero(t, code, log)
		until, err := time.Parse(time.RFC3339, annotation("one", "pause-execution"))
		require.NoError(t, err)
		assert.InDelta(t, 2*time.Hour, time.Until(until), float64(5*time.Minute))
		assert.Equal(t, "Gadget "+w.Namespace+"/one paused until "+annotation("one", "pause-execution")+"\n", out)
		w.eventually("the operator says so", func() bool {
			_, out, _ := someone.says(append(in, "status", "gadget")...)
			return strings.Contains(out, "Paused")
		})
		code, out, log = someone.says(append(in, "pause", "gadget", "--all")...)
		require.Zero(t, code, log)
		assert.Equal(t, "Gadget "+w.Namespace+"/one paused\nGadget "+w.Namespace+"/two paused\n", out)
		_, out, _ = someone.says(append(in, "pause", "gadget/two")...)
		assert.Equal(t, "Gadget "+w.Namespace+"/two was paused already\n", out)
		code, out, log = someone.says(append(in, "resume", "gadget", "two", "one")...)
		require.Zero(t, code, log)
		assert.Equal(t, "Gadget "+w.Namespace+"/two resumed\nGadget "+w.Namespace+"/one resumed\n", out)
		assert.Empty(t, annotation("one", "pause-execution"))
		mark := w.Mark(t)
		_, out, _ = someone.says(append(in, "resume", "gadget", "one")...)
		assert.Equal(t, "Gadget "+w.Namespace+"/one wasn't paused\n", out)
		assert.Empty(t, w.CallsSince(t, mark, someone.user).Writes())
	})
	t.Run("trigger", func(t *testing.T) {
		file := file(t, "apiVersion: operator.operkit.dev/v1\nkind: Gadget\nmetadata: {name: two, namespace: "+w.Namespace+"}\n")
		code, out, log := someone.says("trigger", "-f", file)
		require.Zero(t, code, log)
		assert.Equal(t, "Gadget "+w.Namespace+"/two triggered\n", out)
		first := annotation("two", "reconcile-at")
		assert.NotEmpty(t, first)
		_, _, _ = someone.says("trigger", "-f", file)
		assert.NotEqual(t, first, annotation("two", "reconcile-at"), "each time counts")
	})
	t.Run("bad input", func(t *testing.T) {
		for reason, row := range map[string]struct {
			args []string
			code int
			want string
		}{
			"one that isn't there":    {[]string{"status", "gadget/nobody"}, 1, "Gadget " + w.Namespace + "/nobody: not found"},
			"several, all are told":   {[]string{"trigger", "gadget", "no", "none"}, 1, "/no: not found\nGadget " + w.Namespace + "/none: not found"},
			"a name that nobody has":  {[]string{"status", "nobody"}, 1, "nobody: not found: no resource of the kinds Gadget, Gear has this name"},
			"a kind that isn't ours":  {[]string{"status", "pod/one"}, 2, "pod/one: this operator controls no pod: choose one of Gadget, Gear"},
			"nobody was named":        {[]string{"pause"}, 2, "no resources are given: name them, or use --selector or --all"},
			"a kind is no name":       {[]string{"pause", "gadget"}, 2, "no resources are given: name them, or use --selector or --all"},
			"names and all":           {[]string{"resume", "gadget/one", "--all"}, 2, "--all and names exclude each other"},
			"a time that is over":     {[]string{"pause", "gadget/one", "--until", "2000-01-01T00:00:00Z"}, 2, "the time is in the past"},
			"a time that is none":     {[]string{"pause", "gadget/one", "--until", "later"}, 2, `--until "later": write a time such as`},
			"a selector that is none": {[]string{"status", "-l", "a in b"}, 2, `--selector "a in b": unable to parse requirement`},
			"a name and a selector":   {[]string{"status", "gadget/one", "-l", "a=b"}, 2, "choose resources either by name, or by --selector"},
			"all namespaces and one":  {[]string{"status", "-A"}, 2, "--all-namespaces and --namespace exclude each other"},
			"a file of another kind":  {[]string{"status", "-f", "testdata/widget.yaml"}, 2, "this operator controls only the kinds Gadget, Gear"},
			"a form that there isn't": {[]string{"status", "-o", "wide"}, 2, `--output "wide": use table, yaml or json`},
		} {
			code, out, log := someone.says(append(in, row.args...)...)
			assert.Equal(t, row.code, code, "%s: %s", reason, log)
			assert.Empty(t, out, reason)
			assert.Contains(t, log, row.want, reason)
		}
	})
	t.Run("commands 4: a shell completes", func(t *testing.T) { completes(t, someone) })
	t.Run("commands 2: a name without its kind", func(t *testing.T) {
		code, out, log := someone.says(append(in, "status", "two", "one")...)
		require.Zero(t, code, log)
		assert.Equal(t, 2, strings.Count(out, "Gadget       "+w.Namespace+"/"), "no other kind has resources of these names")
		w.resource(gears, "one")
		code, out, log = someone.says(append(in, "trigger", "one")...)
		assert.Equal(t, 2, code)
		assert.Empty(t, out)
		assert.Contains(t, log, "one: several resources have this name: give one of gadget/one, gear/one\n")
		code, _, log = someone.says(append(in, "trigger", "two")...)
		require.Zero(t, code, log)
		some := w.User(t, "some", envtest.InNamespace(rbacv1.PolicyRule{Verbs: []string{"get", "patch"}, APIGroups: []string{"operator.operkit.dev"}, Resources: []string{"gadgets"}}))
		code, _, log = (&person{w, some, w.Kubeconfig(t, some)}).says(append(in, "trigger", "two")...)
		assert.Equal(t, 1, code, "a resource that can't be read may have the name, too")
		assert.Contains(t, log, "two: give KIND/two, because not every kind can be read: ")
	})
	t.Run("no rights", func(t *testing.T) {
		reader := w.person("reader", "get", "list")
		code, out, log := reader.says(append(in, "pause", "gadget/one")...)
		assert.Equal(t, 1, code)
		assert.Empty(t, out)
		assert.Contains(t, log, "patch")
		nobody := w.person("nobody", "watch")
		code, _, log = nobody.says(append(in, "status")...)
		assert.Equal(t, 1, code)
		assert.Contains(t, log, "list")
		for _, command := range []string{"pause", "resume", "trigger", "reconcile"} {
			code, _, log = nobody.says(append(in, command)...)
			assert.Equal(t, 2, code, "who names none isn't asking for those that can be listed")
			assert.Contains(t, log, "no resources are given", command)
		}
	})
	t.Run("no cluster", func(t *testing.T) {
		code, out, log := execute(t, "status", "--kubeconfig", "testdata/good.kubeconfig")
		assert.Equal(t, 1, code)
		assert.Empty(t, out)
		assert.Contains(t, log, "check that it runs and can be reached from here, or choose another with --context or --kubeconfig")
	})
	t.Run("no definition", func(t *testing.T) {
		op := operator.New("widget-operator")
		op.Control(widget{})
		var out, log bytes.Buffer
		code := op.Execute(t.Context(), []string{"status", "--kubeconfig", someone.kubeconfig}, &out, &log)
		assert.Equal(t, 1, code)
		assert.Contains(t, log.String(), "apply its CustomResourceDefinition")
	})
}

// complete returns the words that a shell offers after args, without their descriptions, and the directive.
func (p *person) complete(args ...string) []string {
	p.w.t.Helper()
	op := operator.New("gadget-operator")
	op.Control(settings{gadgets})
	op.Control(settings{gears})
	var out, log bytes.Buffer
	flags := []string{"--kubeconfig", p.kubeconfig}
	if args[0] != "render" {
		flags = append(flags, "-n", p.w.Namespace)
	}
	code := op.Execute(p.w.t.Context(), slices.Concat([]string{"__complete", args[0]}, flags, args[1:]), &out, &log)
	require.Zero(p.w.t, code, log.String())
	var words []string
	for line := range strings.Lines(out.String()) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
		words = append(words, word)
	}
	return words
}

func completes(t *testing.T, someone *person) {
	const noFiles = ":4"
	for reason, row := range map[string]struct{ args, want []string }{
		"kinds and names at first":               {[]string{"status", ""}, []string{"gadget", "gear", "one", "two", noFiles}},
		"what begins as it was begun":            {[]string{"pause", "ga"}, []string{"gadget", noFiles}},
		"names of a kind":                        {[]string{"trigger", "gadget", ""}, []string{"one", "two", noFiles}},
		"but not those that are given":           {[]string{"trigger", "gadget", "one", ""}, []string{"two", noFiles}},
		"by a short name, too":                   {[]string{"diff", "gadgets", "t"}, []string{"two", noFiles}},
		"behind a kind with a slash":             {[]string{"reconcile", "gadget/"}, []string{"gadget/one", "gadget/two", noFiles}},
		"a kind without resources":               {[]string{"graph", "gear", ""}, []string{noFiles}},
		"formats":                                {[]string{"status", "-o", ""}, []string{"table", "yaml", "json", noFiles}},
		"drawings":                               {[]string{"graph", "--output", ""}, []string{"text", "dot", "mermaid", "svg", noFiles}},
		"forms of a diff":                        {[]string{"diff", "-o", ""}, []string{"diff", "yaml", "json", noFiles}},
		"files":                                  {[]string{"render", "-f", ""}, []string{":0"}},
		"nothing that a command doesn't take":    {[]string{"run", ""}, []string{noFiles}},
		"nothing with a namespace that is wrong": {[]string{"status", "-n", "nowhere", ""}, []string{"gadget", "gear", noFiles}},
	} {
		assert.Equal(t, row.want, someone.complete(row.args...), reason)
	}
	code, out, _ := execute(t, "__complete", "config", "leader-election.r")
	assert.Zero(t, code)
	assert.Contains(t, out, "leader-election.renew-deadline\n")
	code, out, _ = execute(t, "__complete", "status", "--kubeconfig", "testdata/good.kubeconfig", "")
	assert.Zero(t, code, "without a cluster there is nothing to offer")
	assert.Equal(t, ":4\n", out)
}

func gadgetOperator() *operator.Operator {
	op := operator.New("gadget-operator")
	op.Control(settings{gadgets})
	return op
}
