package licence_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/check/internal/licence"
	"github.com/operkit/operkit/tools/check/internal/repotest"
	"github.com/operkit/operkit/tools/check/repository"
)

const mit = `MIT License

Copyright (c) 2026 Somebody

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE,
ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`

const zero = `Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED
WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR
CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF
CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.
`

func TestOf(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		files  repotest.Files
		want   string
		err    string
	}{
		{"one", repotest.Files{"LICENSE": mit, "x.go": "package x\n"}, "[MIT]", ""},
		{"two files", repotest.Files{"LICENSE.txt": mit, "COPYING": zero}, "[0BSD MIT]", ""},
		{"two in one, and the name in British", repotest.Files{"licence.md": mit + "\n\n" + zero}, "[0BSD MIT]", ""},
		{"a program that is about licences", repotest.Files{"LICENSE": mit, "license.go": "package x\n"}, "[MIT]", ""},
		{"another one for its documentation", repotest.Files{"LICENSE": mit, "LICENSE.docs": zero}, "[MIT]", ""},
		{"none", repotest.Files{"README.md": mit}, "[]", "no licence file"},
		{"a text of their own", repotest.Files{"LICENSE": "Ask us.\n"}, "[]", "LICENSE: only 0 % of it"},
		{"a known one that another one follows", repotest.Files{"LICENSE": mit + strings.Repeat("You may not use it on Mondays. ", 60)}, "[]", "LICENSE: "},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			repotest.Write(t, dir, row.files)
			got, err := licence.Of(dir)
			if fmt.Sprint(got) != row.want || row.err == "" && err != nil || row.err != "" && (err == nil || !strings.HasPrefix(err.Error(), row.err)) {
				t.Errorf("%v, %v; want %s, %q", got, err, row.want, row.err)
			}
		})
	}
	if _, err := licence.Of("nowhere"); err == nil {
		t.Error("no folder: no error")
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	libraries := t.TempDir()
	mod := "module " + repository.Prefix + "/dag\n\ngo 1.26.0\n"
	for name, text := range map[string]string{"good": mit, "other": zero, "own": "Ask us.\n", "unused": "Ask us.\n"} {
		repotest.Write(t, libraries, repotest.Files{
			name + "/go.mod":  "module " + name + ".test\n\ngo 1.26.0\n",
			name + "/code.go": "package code\n",
			name + "/LICENSE": text,
		})
		mod += fmt.Sprintf("\nrequire %s.test v0.0.0\n\nreplace %s.test => %q\n", name, name, libraries+"/"+name)
	}
	r := repotest.New(t, []string{"dag", "status"}, repotest.Files{
		"dag/go.mod":       mod,
		"dag/CHANGELOG.md": "# Changes\n",
		"dag/dag.go":       repotest.Package("dag", "good.test", "other.test"),
		"dag/cmd/main.go":  repotest.Package("main", "own.test"),
		"dag/dag_test.go":  repotest.Package("dag", "unused.test"),
		"status/status.go": "package status\n",
	})
	found, err := licence.Check(t.Context(), r, map[string]string{"MIT": "smile"}, repository.Options{Verbose: true})
	if err != nil {
		t.Fatal(err)
	}
	const dag = repository.Prefix + "/dag"
	for _, row := range []struct {
		what      string
		got, want []string
	}{
		{"problems", found.Problems, []string{
			"other.test v0.0.0: licence 0BSD isn't allowed (" + dag + " -> other.test)",
			"own.test v0.0.0: LICENSE: only 0 % of it is the text of a known licence: a person has to read it (" + dag + "/cmd -> own.test)",
		}},
		{"notes", found.Notes, []string{
			"good.test v0.0.0: MIT", "good.test v0.0.0: licence MIT: smile (" + dag + " -> good.test)", "other.test v0.0.0: 0BSD", "own.test v0.0.0: ",
		}},
	} {
		if !slices.Equal(row.got, row.want) {
			t.Errorf("%s\n%s\nwant\n%s", row.what, strings.Join(row.got, "\n"), strings.Join(row.want, "\n"))
		}
	}
}
