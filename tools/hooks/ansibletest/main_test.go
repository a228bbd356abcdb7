package ansibletest_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"

	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/operkit/operkit/tools/hooks/internal/command"
)

func TestMain(m *testing.M) {
	program.Main(command.Main)
	if err := install(); err != nil {
		fmt.Fprintln(os.Stderr, "ansibletest:", err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// install installs Ansible, unless it is installed.
func install() error {
	if isInstalled() == nil {
		return nil
	}
	if _, err := os.Stat("/etc/debian_version"); err != nil || os.Getuid() != 0 {
		return fmt.Errorf("%w: install ansible-playbook with the collection kubernetes.core, and the module kubernetes of /usr/bin/python3 "+
			"(on Debian: apt-get install ansible python3-kubernetes, which this test does as root)", isInstalled())
	}
	for _, arguments := range [][]string{{"update"}, {"install", "-y", "--no-install-recommends", "ansible", "python3-kubernetes"}} {
		command := exec.Command("apt-get", append([]string{"-qq", "-o", "DPkg::Lock::Timeout=600"}, arguments...)...)
		command.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if output, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s: %w\n%s", arguments[0], err, output)
		}
	}
	return isInstalled()
}

// isInstalled returns nil if all that the tests need is there.
func isInstalled() error {
	if _, err := exec.LookPath("ansible-playbook"); err != nil {
		return err
	}
	const look = "import kubernetes; import ansible_collections.kubernetes.core.plugins"
	if output, err := exec.Command("/usr/bin/python3", "-c", look).CombinedOutput(); err != nil {
		return fmt.Errorf("/usr/bin/python3: %w: %s", err, output)
	}
	return nil
}
