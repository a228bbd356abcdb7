package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// noon is when all tests happen.
var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// call runs the command as main does.
func call(stdin string, args ...string) (stdout, stderr string, code int) {
	var out, said bytes.Buffer
	code = run(args, func() time.Time { return noon }, strings.NewReader(stdin), &out, &said)
	return out.String(), said.String(), code
}

// The README's sessions are what the command says, line by line.
func TestReadme(t *testing.T) {
	t.Chdir("testdata")
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	require.NoError(t, err)
	var shown, happened strings.Builder
	codes := map[int]int{}
	for i, block := range strings.Split(string(readme), "```") {
		session, isSession := strings.CutPrefix(block, "console\n")
		if i%2 == 0 || !isSession {
			continue
		}
		shown.WriteString(session)
		code := 0
		for line := range strings.Lines(session) {
			switch command, redirected, _ := strings.Cut(strings.TrimSpace(line), " < "); {
			case command == "$ echo $?":
				codes[code]++
				happened.WriteString(line + strconv.Itoa(code) + "\n")
			case strings.HasPrefix(command, "$ readiness "):
				var stdin []byte
				if redirected != "" {
					stdin, err = os.ReadFile(redirected)
					require.NoError(t, err)
				}
				var stdout, stderr string
				stdout, stderr, code = call(string(stdin), strings.Fields(command)[2:]...)
				happened.WriteString(line + stdout + stderr)
			}
		}
	}
	assert.Equal(t, shown.String(), happened.String())
	assert.Equal(t, map[int]int{0: 1, 1: 2, 2: 1}, codes, "every exit code is shown")
}

func TestTable(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, stdin string
		want          string // without the head
		code          int
	}{
		{
			"nobody looks after it: present is ready", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}",
			"ConfigMap shop/a Ready Present the object is present", 0,
		},
		{
			"a well-known kind of others that its controller hasn't handled", "{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: a, namespace: shop}}",
			"Certificate.cert-manager.io shop/a InProgress ConditionMissing the condition Ready isn't set yet: cert-manager hasn't handled the object", 1,
		},
		{
			"being deleted", "{apiVersion: v1, kind: Pod, metadata: {name: a, deletionTimestamp: '2026-06-01T11:59:00Z'}, status: {phase: Running}}",
			"Pod a Terminating Terminating the object is being deleted", 1,
		},
		{
			"a phase that no rule knows", "{apiVersion: v1, kind: Pod, metadata: {name: a}, status: {phase: Dreaming}}",
			"Pod a Unknown PhaseUnknown the phase \"Dreaming\" isn't known", 1,
		},
		{
			"unschedulable for longer than 15 s, by the clock", `
apiVersion: v1
kind: Pod
metadata: {name: a}
status:
  phase: Pending
  conditions:
  - {type: PodScheduled, status: "False", reason: Unschedulable, message: no node fits, lastTransitionTime: "2026-06-01T11:59:44Z"}`,
			"Pod a Failed Unschedulable no node fits", 1,
		},
		{
			"unschedulable for 15 s is a moment", `
apiVersion: v1
kind: Pod
metadata: {name: a}
status:
  phase: Pending
  conditions:
  - {type: PodScheduled, status: "False", reason: Unschedulable, message: no node fits, lastTransitionTime: "2026-06-01T11:59:45Z"}`,
			"Pod a InProgress PodPending no node fits", 1,
		},
		{
			"a controller that says what is wrong, in several lines and colours", `
apiVersion: example.test/v1
kind: Thing
metadata: {name: a}
status: {conditions: [{type: Stalled, status: "True", reason: NoColour, message: "first\n\tsecond \e[31mred"}]}`,
			"Thing.example.test a Failed NoColour first second \ufffd[31mred", 1,
		},
		{
			"generations that a float would round", "{apiVersion: example.test/v1, kind: Thing, metadata: {name: a, generation: 9007199254740993}, status: {observedGeneration: 9007199254740992}}",
			"Thing.example.test a InProgress LatestGenerationNotObserved generation 9007199254740993 is not observed yet: the status is of generation 9007199254740992", 1,
		},
		{
			"one of several isn't ready, in the order of the input", "apiVersion: v1\nkind: Secret\nmetadata: {name: b}\n---\n{apiVersion: batch/v1, kind: Job, metadata: {name: a}}",
			"Secret b Ready Present the object is present\nJob.batch a InProgress JobNotStarted the Job hasn't started yet", 1,
		},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := call(row.stdin, "-")
			assert.Equal(t, row.code, code)
			assert.Empty(t, stderr)
			assert.Equal(t, "NAME STATUS REASON MESSAGE\n"+row.want, squeeze(stdout))
			quiet, stderr, code := call(row.stdin, "--quiet", "-")
			assert.Equal(t, row.code, code)
			assert.Empty(t, quiet+stderr)
		})
	}
}

// squeeze takes a table's padding away.
func squeeze(table string) string {
	var lines []string
	for line := range strings.Lines(table) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}

func TestForms(t *testing.T) {
	t.Parallel()
	const a, b = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}`, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"b"}}`
	const bare = `{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}`
	for _, row := range []struct{ reason, stdin string }{
		{"two documents of YAML", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\n---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: b\n"},
		{"with lines of Windows, a byte order mark and markers around", "\ufeff---\r\n" + a + "\r\n---\r\n" + b + "\r\n---\r\n"},
		{"with lines of very old ones", a + "\r---\r" + b + "\r"},
		{"with comments at markers, and empty documents", "# licence\n--- # one\n" + a + "\n--- # none\n\n---\n# nothing\n---\n" + b},
		{"with a document in the line of its marker", "--- " + a + "\n--- " + b},
		{"with a directive, and ends", "%YAML 1.1\n---\n" + a + "\n...\n# between\n---\n" + b + "\n...\n"},
		{"an end is enough to have another one", a + "\n...\n" + b},
		{"JSON, one after another", a + "\n" + b + "\n"},
		{"JSON without any space", a + b},
		{"JSON with what YAML doesn't read", strings.Replace(a, "{", `{"data":{"a":"\ud83d\ude00\/"},`, 1) + b},
		{"a list of kubectl", `{"apiVersion":"v1","kind":"List","metadata":{},"items":[` + a + "," + b + "]}"},
		{"lists in a list", `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"List","items":[` + a + "," + b + `]},{"apiVersion":"v1","kind":"List","items":null}]}`},
		{"a list of the API server, whose items don't say what they are", `{"apiVersion":"v1","kind":"SecretList","items":[` + bare + "]}"},
		{"a list of kubectl's, of one kind", "apiVersion: v1\nkind: SecretList\nitems:\n- " + a + "\n- " + b},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := call(row.stdin, "-")
			assert.Zero(t, code)
			assert.Empty(t, stderr)
			assert.Equal(t, "NAME       STATUS   REASON    MESSAGE\nSecret a   Ready    Present   the object is present\nSecret b   Ready    Present   the object is present\n", stdout)
		})
	}
	t.Run("a kind of which List is only the end of the name", func(t *testing.T) {
		t.Parallel()
		stdout, _, code := call("{apiVersion: example.test/v1, kind: GuestList, metadata: {name: a}, spec: {items: [1]}}", "-")
		assert.Zero(t, code)
		assert.Contains(t, stdout, "GuestList.example.test a ")
	})
}

func TestBadInput(t *testing.T) {
	t.Chdir("testdata")
	const good = "{apiVersion: v1, kind: Secret, metadata: {name: a}}\n"
	for _, row := range []struct {
		reason, stdin string
		args          []string
		want          string
	}{
		{"no file", "", nil, "no file is named"},
		{"no such flag", "", []string{"--wide"}, "unknown flag: --wide"},
		{"no such output", good, []string{"-o", "wide", "-"}, "--output wide: want table or json"},
		{"no such file", "", []string{"ready.yaml", "absent.yaml"}, "open absent.yaml: no such file"},
		{"a folder", "", []string{"."}, "read .: is a directory"},
		{"standard input twice", good, []string{"-", "-"}, "-: standard input can be read once only"},
		{"nothing", "", []string{"-"}, "-: it holds no object"},
		{"nothing but comments", "# a\n---\n# b\n", []string{"-"}, "-: it holds no object"},
		{"nothing in a list", "", []string{"ready.yaml", "none.yaml"}, "none.yaml: it holds no object"},
		{"no YAML, in the second of two files", "", []string{"ready.yaml", "broken.yaml"}, "broken.yaml: document 2: yaml: line 8: did not find"},
		{"no JSON, after some that is", strings.ReplaceAll(`{"apiVersion":"v1","kind":"Secret"}`, ",", ",\n") + "\n{\"kind\": [", []string{"-"}, "-: document 2: yaml: line 3: "},
		{"a field twice, by its line in the file", good + "---\nkind: A\nkind: B\n", []string{"-"}, `-: document 2: yaml: unmarshal errors: line 4: key "kind" already set in map`},
		{"text", good + "---\nError from server (NotFound)\n", []string{"-"}, `-: document 2: want an object, not "Error from server (NotFound)"`},
		{"an empty list that comes without its items", "{apiVersion: v1, kind: PodList, metadata: {resourceVersion: '7'}}", []string{"-"}, "-: it holds no object"},
		{"a list that is no object", "[1]", []string{"-"}, "-: document 1: want an object, not a list"},
		{"no kind", good + "---\n{apiVersion: v1}", []string{"-"}, "-: document 2: the object has no kind"},
		{"no API version", "{kind: Pod}", []string{"-"}, "-: document 1: the object has no apiVersion"},
		{"a kind that is a number", "{apiVersion: v1, kind: 7}", []string{"-"}, "-: document 1: the object has no kind"},
		{"a list without items of its own", "{apiVersion: v1, kind: List, items: {a: b}}", []string{"-"}, "-: document 1: List: its items are no list, but an object"},
		{"null in a list", "{apiVersion: v1, kind: List, items: [null]}", []string{"-"}, "-: document 1: List: item 1: want an object, not null"},
		{"an item without a kind", "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Pod}, {apiVersion: v1}]}", []string{"-"}, "-: document 1: List: item 2: the object has no kind"},
		{"half of a kind isn't completed", "{apiVersion: v1, kind: PodList, items: [{apiVersion: v1}]}", []string{"-"}, "-: document 1: PodList: item 1: the object has no kind"},
		{"no YAML at all", "\x00\x01", []string{"-"}, "-: document 1: yaml: "},
	} {
		t.Run(row.reason, func(t *testing.T) {
			stdout, stderr, code := call(row.stdin, row.args...)
			assert.Equal(t, 2, code)
			assert.Contains(t, stderr, "readiness: "+row.want)
			assert.Equal(t, 1, strings.Count(stderr, "\n"), "one line: %s", stderr)
			assert.Empty(t, stdout)
		})
	}
}

// Trouble with reading and writing is no verdict.
func TestTrouble(t *testing.T) {
	t.Parallel()
	now := func() time.Time { return noon }
	var stderr bytes.Buffer
	code := run([]string{"-"}, now, iotest.ErrReader(errors.New("the line is dead")), io.Discard, &stderr)
	assert.Equal(t, 2, code)
	assert.Equal(t, "readiness: -: the line is dead\n", stderr.String())
	for _, output := range []string{"table", "json"} {
		stderr.Reset()
		code = run([]string{"testdata/ready.yaml", "-o", output}, now, nil, full{}, &stderr)
		assert.Equal(t, 2, code, output)
		assert.Equal(t, "readiness: the disk is full\n", stderr.String(), output)
	}
}

// full is a disk that takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestHelp(t *testing.T) {
	t.Parallel()
	stdout, stderr, code := call("", "--help")
	assert.Zero(t, code)
	assert.Empty(t, stderr)
	for _, part := range []string{"kubectl get deployments,services,pods -o yaml | readiness -\n", "exit code is 0", "--output", "--quiet"} {
		assert.Contains(t, stdout, part)
	}
}
