package git

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/tools/release/internal/process"
)

// Dir is the top folder of a working tree.
type Dir string

// run runs git and gives what it printed, without the end of the last line.
func (d Dir) run(ctx context.Context, args ...string) (string, error) {
	return d.feed(ctx, "", nil, args...)
}

// feed is run with an input and more environment.
func (d Dir) feed(ctx context.Context, stdin string, env []string, args ...string) (string, error) {
	out, err := process.Program{
		Dir: string(d), Env: append(environ(), env...), Stdin: strings.NewReader(stdin), Name: "git", Args: args,
	}.Output(ctx)
	return strings.TrimSuffix(out, "\n"), err
}

// environ is the environment of this process without what a hook, inside of which it may run, tells git of its
// repository. Reading takes no lock.
func environ() []string {
	env := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return name == "GIT_DIR" || name == "GIT_WORK_TREE" || name == "GIT_INDEX_FILE" || name == "GIT_PREFIX"
	})
	return append(env, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0")
}

// Branch gives the full name of the branch that HEAD is, "" when HEAD is detached.
func (d Dir) Branch(ctx context.Context) (string, error) {
	name, err := d.run(ctx, "rev-parse", "--symbolic-full-name", "HEAD")
	if name == "HEAD" {
		name = ""
	}
	return name, err
}

// Dirty lists what the working tree and the index have that HEAD has not, a line for each file.
func (d Dir) Dirty(ctx context.Context) ([]string, error) {
	out, err := d.run(ctx, "status", "--porcelain", "--untracked-files=all")
	if out == "" || err != nil {
		return nil, err
	}
	return strings.Split(out, "\n"), nil
}

// Resolve gives the id of the commit that a revision names.
func (d Dir) Resolve(ctx context.Context, revision string) (string, error) {
	return d.run(ctx, "rev-parse", "--verify", "--quiet", revision+"^{commit}")
}

// Tags lists all tags.
func (d Dir) Tags(ctx context.Context) ([]string, error) {
	out, err := d.run(ctx, "for-each-ref", "--format=%(refname:strip=2)", "refs/tags/")
	if out == "" || err != nil {
		return nil, err
	}
	return strings.Split(out, "\n"), nil
}

// Time is when HEAD was committed; the beginning of 1970 when there is no commit.
func (d Dir) Time(ctx context.Context) (time.Time, error) {
	if _, err := d.Resolve(ctx, "HEAD"); err != nil {
		return time.Unix(0, 0).UTC(), ctx.Err()
	}
	out, err := d.run(ctx, "show", "--no-patch", "--format=%cI", "HEAD")
	if err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339, out)
	return at.UTC(), err
}

// Subjects lists the first lines of the commits after a revision that touch a folder, the newest first, without those
// that touch only folders among except. With no revision it lists all.
func (d Dir) Subjects(ctx context.Context, after, folder string, except []string) ([]string, error) {
	args := []string{"log", "--no-merges", "--format=%s"}
	if after != "" {
		args = append(args, after+"..HEAD")
	}
	args = append(args, "--", folder)
	for _, other := range except {
		args = append(args, ":(exclude,literal)"+other)
	}
	out, err := d.run(ctx, args...)
	if out == "" || err != nil {
		return nil, err
	}
	return strings.Split(out, "\n"), nil
}
