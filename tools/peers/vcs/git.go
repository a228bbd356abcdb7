package main

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// environment returns an environment in which git reads only the repository's configuration.
func environment() []string {
	return append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "LC_ALL=C", "TZ=UTC")
}

// git runs git in a folder, and returns its output.
func git(folder string, args ...string) (string, error) {
	command := exec.Command("git", append([]string{"-C", folder}, args...)...)
	command.Env = environment()
	return output(command)
}

//go:embed setup.sh
var setupScript string

// gitSetup creates a repository of versions with the script.
func gitSetup(source, destination string) error {
	_, err := output(gitSetupCommand(source, destination))
	return err
}

func gitSetupCommand(source, destination string) *exec.Cmd {
	command := exec.Command("sh", "-s", source, destination)
	command.Env, command.Stdin = environment(), strings.NewReader(setupScript)
	return command
}

// gitSetupAndCollect runs gitSetup and then git gc, which makes the result smaller.
func gitSetupAndCollect(source, destination string) error {
	if err := gitSetup(source, destination); err != nil {
		return err
	}
	_, err := git(destination, "gc", "-q")
	return err
}

// copyRepository copies a repository, with the same file for its pack.
func copyRepository(source, path string) error {
	_, err := git(filepath.Dir(path), "clone", "-q", "--no-checkout", "--local", source, path)
	return err
}

func lines(text string) []string { return strings.Split(strings.TrimSpace(text), "\n") }

func output(command *exec.Cmd) (string, error) {
	out, err := command.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(command.Args, " "), err, out)
	}
	return string(out), nil
}
