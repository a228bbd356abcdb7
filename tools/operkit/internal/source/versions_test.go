package source_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/operkit/internal/source"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// types are the types of a kind, as init writes them.
const types = `package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var GuestbookKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Guestbook"}

// Guestbook is a server.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Guestbook struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec Spec
}

// +kubebuilder:object:root=true
type GuestbookList struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []Guestbook
}
`

// packageOf is a package with these files.
func packageOf(t *testing.T, files ...string) source.Folder {
	t.Helper()
	folder := source.Folder{Path: "v1"}
	for i, text := range files {
		file, err := source.Parse(filepath.Join("v1", string(rune('a'+i))+".go"), []byte(text))
		require.NoError(t, err)
		folder.Files = append(folder.Files, file)
	}
	return folder
}

func TestKinds(t *testing.T) {
	t.Parallel()
	folder := packageOf(t, types, "package v1\n\ntype Spec struct{ metav1.ObjectMeta }\n\ntype Generic[T any] struct{}\n")
	assert.Equal(t, []string{"Guestbook"}, folder.Kinds(), "no list, and no struct with metadata only")
	_, found := folder.Type("Spec")
	assert.True(t, found)
	for _, name := range []string{"Generic", "GuestbookKind", "None"} {
		_, found = folder.Type(name)
		assert.False(t, found, name)
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, before, want string }{
		{"as it was written", types, "// +kubebuilder:object:root=true\n// +kubebuilder:storageversion\n// +kubebuilder:subresource:status\ntype Guestbook struct"},
		{"in a group of types", "package v1\n\ntype (\n\t// +kubebuilder:object:root=true\n\tGuestbook struct{}\n)\n", "\t// +kubebuilder:object:root=true\n\t// +kubebuilder:storageversion\n\tGuestbook"},
	} {
		folder := packageOf(t, row.before)
		assert.False(t, folder.Stored("Guestbook"), row.reason)
		text, changed, err := folder.Files[0].Store("Guestbook")
		require.NoError(t, err, row.reason)
		assert.True(t, changed, row.reason)
		assert.Contains(t, string(text), row.want, row.reason)
		after := packageOf(t, string(text))
		assert.True(t, after.Stored("Guestbook"), row.reason)
		again, changed, err := after.Files[0].Store("Guestbook")
		require.NoError(t, err, row.reason)
		assert.False(t, changed, row.reason)
		assert.Equal(t, string(text), string(again), row.reason)
		assert.Equal(t, row.before, strings.Replace(strings.Replace(string(text), "\t// +kubebuilder:storageversion\n", "", 1), "// +kubebuilder:storageversion\n", "", 1), row.reason)
	}
	for reason, text := range map[string]string{
		"no marker":         "package v1\n\n// Guestbook is one.\ntype Guestbook struct{}\n",
		"another comment":   "package v1\n\n/* +kubebuilder:object:root=true */\ntype Guestbook struct{}\n",
		"no such type":      "package v1\n",
		"not beside a type": "package v1\n\n// +kubebuilder:object:root=true\n\ntype Guestbook struct{}\n",
	} {
		_, _, err := packageOf(t, text).Files[0].Store("Guestbook")
		assert.ErrorIs(t, err, source.ErrNoPlace, reason)
	}
}

func TestFilesOf(t *testing.T) {
	t.Parallel()
	folder := packageOf(t, types, "package v1\n\ntype Spec struct{ Doors []Door; X other.Unused }\n", "package v1\n\ntype Door struct{}\n", "package v1\n\ntype Unused struct{}\n")
	files, err := folder.FilesOf("Guestbook")
	require.NoError(t, err)
	var names string
	for _, file := range files {
		names += file.Base() + " "
	}
	assert.Equal(t, "a.go b.go c.go ", names, "what it uses, and not what has the name of something else")
	_, err = packageOf(t, types+"type Page struct{ metav1.TypeMeta; metav1.ObjectMeta }\n").FilesOf("Guestbook")
	assert.EqualError(t, err, "v1/a.go is a file of Guestbook and of Page: move what belongs to Page into a file of its own")
}

func TestInVersion(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, before, want string }{
		{"the kind", `var k = schema.GroupVersionKind{Group: "v1", Version: "v1"}`, ""},
		{"without names of fields", `var k = schema.GroupVersionKind{"example.com", "v1", "Guestbook"}`, `var k = schema.GroupVersionKind{"example.com", "v2", "Guestbook"}`},
		{"the version of a group", `var g = schema.GroupVersion{Group: "example.com", Version: "v1"}`, `var g = schema.GroupVersion{Group: "example.com", Version: "v2"}`},
		{"another text stays", "// Guestbook of v1.\nvar label = map[string]string{\"v1\": \"v1\"}", "// Guestbook of v1.\nvar label = map[string]string{\"v1\": \"v1\"}"},
		{"markers of the version", "// A is one.\n// +kubebuilder:storageversion\n// +kubebuilder:deprecatedversion:warning=\"use v2\"\n// +kubebuilder:object:root=true\ntype A struct{}", "// A is one.\n// +kubebuilder:object:root=true\ntype A struct{}"},
	} {
		text, err := packageOf(t, "package v1\n\n"+row.before+"\n").Files[0].InVersion("v1", "v2", "p2")
		require.NoError(t, err, row.reason)
		if row.want != "" {
			assert.Equal(t, "package p2\n\n"+row.want+"\n", string(text), row.reason)
		}
	}
}

func TestGenerateFrom(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, before, want string }{
		{"as it was written", "//go:generate go tool controller-gen object crd paths=. output:crd:dir=x", "//go:generate go tool controller-gen object crd paths=../... output:crd:dir=x"},
		{"quoted", `//go:generate controller-gen crd paths="./..."`, "//go:generate controller-gen crd paths=../..."},
		{"all already", "//go:generate controller-gen crd paths=../...", ""},
		{"deep copies only", "//go:generate controller-gen object paths=.", ""},
		{"another program", "//go:generate stringer crd paths=.", ""},
		{"no line for go generate", "// go tool controller-gen object crd paths=.", ""},
	} {
		file := packageOf(t, "package v1\n\n// Types.\n"+row.before+"\n\nvar a int\n").Files[0]
		assert.Equal(t, row.want != "", file.GeneratesAlone(), row.reason)
		text, changed, err := file.GenerateFrom("../...")
		require.NoError(t, err, row.reason)
		assert.Equal(t, row.want != "", changed, row.reason)
		if !changed {
			row.want = row.before
		}
		assert.Equal(t, "package v1\n\n// Types.\n"+row.want+"\n\nvar a int\n", string(text), row.reason)
	}
}

// converter is one as `operkit add conversion` writes it.
const converter = `package guestbook

import (
	v1 "example.com/x/api/v1"
	v2 "example.com/x/api/v2"
	"github.com/operkit/operkit/reconcile/conversion"
)

func Conversion() *conversion.Converter[v2.Guestbook] {
	converter := conversion.New[v2.Guestbook](v2.GuestbookKind)
	conversion.Add(converter, v1.GuestbookKind, functions)
	return converter
}
`

func TestConverter(t *testing.T) {
	t.Parallel()
	line := func(names ...string) func(converter, conversion, version, hub string) string {
		return func(converter, conversion, version, hub string) string {
			return strings.Join([]string{"add(" + converter, conversion, version, hub + ")"}, ", ")
		}
	}()
	for _, row := range []struct{ reason, before, want string }{
		{"as it was written", converter, "\tconversion.Add(converter, v1.GuestbookKind, functions)\n\tadd(converter, conversion, v3, v2)\n\treturn converter\n"},
		{"other names", strings.NewReplacer("converter :=", "c :=", "return converter", "return c", "(converter", "(c", "reconcile/conversion\"", "reconcile/conversion\" // here", "v2 \"", "hub \"", "v2.", "hub.").Replace(converter), "\tadd(c, conversion, v3, hub)\n\treturn c\n"},
	} {
		c, found := packageOf(t, row.before).Converter("Guestbook")
		require.True(t, found, row.reason)
		assert.Equal(t, "Conversion example.com/x/api/v2", c.Function+" "+c.Hub(), row.reason)
		assert.True(t, c.Converts("example.com/x/api/v1"), row.reason)
		assert.False(t, c.Converts("example.com/x/api/v3"), row.reason)
		text, err := c.Add("example.com/x/api/v3", "v3", line)
		require.NoError(t, err, row.reason)
		assert.Contains(t, string(text), row.want, row.reason)
		assert.Contains(t, string(text), "\tv3 \"example.com/x/api/v3\"\n", row.reason)
		assert.True(t, keeps(row.before, string(text)), row.reason)
	}
	for reason, text := range map[string]string{
		"another return": strings.Replace(converter, "return converter", "return checked(converter)", 1),
		"no return":      strings.Replace(converter, "\treturn converter\n", "\tpanic(1)\n", 1),
		"a taken name":   strings.Replace(converter, "\treturn converter\n", "\tv3 := 1\n\treturn converter\n", 1),
	} {
		c, found := packageOf(t, text).Converter("Guestbook")
		require.True(t, found, reason)
		_, err := c.Add("example.com/x/api/v3", "v3", line)
		assert.ErrorIs(t, err, source.ErrNoPlace, reason)
	}
	_, found := packageOf(t, converter).Converter("Backup")
	assert.False(t, found, "of another kind")
}

func TestOperatorsName(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "x", parsed(t, asWritten).Operator())
	for _, row := range []struct{ reason, before, after, want string }{
		{"another name of the package", "\"github.com/operkit/operkit/operator/full\"", "f \"github.com/operkit/operkit/operator/full\"", ""},
		{"a New of somebody else", "op := full", "e := errors.New(\"y\")\n\top := full", "x"},
		{"a constant", `New("x")`, "New(name)", ""},
		{"with options", `New("x")`, "New(`x`, options...)", "x"},
	} {
		assert.Equal(t, row.want, parsed(t, strings.Replace(asWritten, row.before, row.after, 1)).Operator(), row.reason)
	}
}

// All that an operator consists of has its place.
func TestAddRegistration(t *testing.T) {
	t.Parallel()
	admit := source.Registration{Method: "Admit", Path: "example.com/x/internal/guestbook", Package: "guestbook", Value: "Webhooks()"}
	convert := admit
	convert.Method, convert.Value = "Convert", "Conversion()"
	text := asWritten
	for _, registration := range []source.Registration{convert, admit} {
		file := parsed(t, text)
		assert.False(t, file.Has(registration))
		added, err := file.Add(registration)
		require.NoError(t, err)
		text = string(added)
		assert.True(t, parsed(t, text).Has(registration))
	}
	assert.Contains(t, text, "\top.Control(guestbook.Controller{})\n\top.Convert(guestbook.Conversion())\n\top.Admit(guestbook.Webhooks())\n\top.Main()\n")
	added, err := parsed(t, text).Control(backupPath, "backup")
	require.NoError(t, err)
	assert.Contains(t, string(added), "\top.Control(guestbook.Controller{})\n\top.Control(backup.Controller{})\n\top.Convert(")
}
