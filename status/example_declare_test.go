package status_test

import (
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status"
)

var errNoQuota = errors.New("the quota is used up")

type apiError struct{ Code string }

func (e *apiError) Error() string { return "the API answers " + e.Code }

// databaseTypes are the conditions of a controller of databases.
var databaseTypes, errDatabaseTypes = status.Declare(
	status.Declared{Type: "Ready", Summarises: true},
	status.Declared{Type: "Provisioned", Errors: []status.ErrorReason{
		status.ErrorIs(errNoQuota, "QuotaExceeded"),
		status.ErrorAs(func(err *apiError) string { return err.Code }),
		{Reason: "ProvisionFailed"}, // every other one
	}},
	status.Declared{Type: "Degraded", Negative: true, Reset: true},
)

func printConditions(obj map[string]any) {
	for _, c := range status.Conditions(obj).List() {
		fmt.Println(strings.TrimSpace(fmt.Sprint(c.Type, " ", c.Status, " ", c.Reason, " ", c.Message)))
	}
}

func ExampleDeclare() {
	fmt.Println(databaseTypes.Types(), errDatabaseTypes)
	_, err := status.Declare(status.Declared{Type: "Ready"}, status.Declared{Type: "Ready"})
	fmt.Println(err)
	// Output:
	// [Ready Provisioned Degraded] <nil>
	// declared conditions: Ready is declared twice
}

func ExampleDeclaration_Types() {
	fmt.Println(databaseTypes.Types())
	// Output: [Ready Provisioned Degraded]
}

func ExampleDeclaration_Declared() {
	for _, declared := range databaseTypes.Declared() {
		fmt.Println(declared.Type, declared.Negative, declared.Summarises)
	}
	// Output:
	// Ready false true
	// Provisioned false false
	// Degraded true false
}

func ExampleDeclaration_Begin() {
	obj := map[string]any{}
	fmt.Println(databaseTypes.Begin(noon, obj, 1))
	printConditions(obj)
	// Output:
	// true <nil>
	// Ready Unknown Initializing nothing is known yet
	// Provisioned Unknown Initializing nothing is known yet
	// Degraded Unknown Initializing nothing is known yet
}

func ExampleDeclaration_Visit() {
	obj := map[string]any{}
	visit := databaseTypes.Visit(1)
	visit.Result("Provisioned", fmt.Errorf("create the database: %w", errNoQuota))
	visit.Report("Degraded", metav1.ConditionFalse, "AllReplicas", "")
	fmt.Println(visit.End(noon, obj))
	printConditions(obj)
	// Output:
	// true <nil>
	// Ready False QuotaExceeded Provisioned: create the database: the quota is used up
	// Provisioned False QuotaExceeded create the database: the quota is used up
	// Degraded False AllReplicas
}

func ExampleVisit_Report() {
	obj := map[string]any{}
	visit := databaseTypes.Visit(1)
	visit.Report("Degraded", metav1.ConditionTrue, "ReplicaLost", "2 of 3 replicas are there")
	_, err := visit.End(noon, obj)
	fmt.Println(status.Conditions(obj).Reason("Degraded"), status.Conditions(obj).IsFalse("Ready"), err)
	// Output: ReplicaLost true <nil>
}

func ExampleVisit_Result() {
	for _, err := range []error{nil, errNoQuota, &apiError{"Teapot"}, errors.New("something else")} {
		obj := map[string]any{}
		visit := databaseTypes.Visit(1)
		visit.Result("Provisioned", err)
		_, err = visit.End(noon, obj)
		c, _ := status.Conditions(obj).Get("Provisioned")
		fmt.Println(c.Status, c.Reason, err)
	}
	// Output:
	// True Succeeded <nil>
	// False QuotaExceeded <nil>
	// False Teapot <nil>
	// False ProvisionFailed <nil>
}

func ExampleVisit_End() {
	obj := map[string]any{}
	visit := databaseTypes.Visit(7)
	visit.Result("Provisioned", nil)
	visit.Result("Degraded", nil)
	fmt.Println(visit.End(noon, obj))
	fmt.Println(visit.End(noon, obj))
	fmt.Println(obj["status"].(map[string]any)["observedGeneration"])
	// Output:
	// true <nil>
	// false <nil>
	// 7
}

func ExampleErrorIs() {
	row := status.ErrorIs(errNoQuota, "QuotaExceeded")
	fmt.Println(row.Match(fmt.Errorf("create: %w", errNoQuota)), row.Match(errors.New("else")), row.Reason)
	// Output: true false QuotaExceeded
}

func ExampleErrorAs() {
	row := status.ErrorAs(func(err *apiError) string { return "Api" + err.Code })
	err := fmt.Errorf("create: %w", &apiError{"Teapot"})
	fmt.Println(row.Match(err), row.ReasonOf(err))
	// Output: true ApiTeapot
}

func ExampleDeclaration_ConditionsOnly() {
	obj := map[string]any{"metadata": map[string]any{"generation": int64(3)}}
	visit := databaseTypes.ConditionsOnly().Visit(3)
	visit.Result("Provisioned", nil)
	if _, err := visit.End(noon, obj); err != nil {
		fmt.Println(err)
	}
	_, present := obj["status"].(map[string]any)["observedGeneration"]
	fmt.Println(present)
	// Output: false
}

func ExampleVisit_Flush() {
	obj := map[string]any{}
	visit := databaseTypes.Visit(1)
	visit.Report("Provisioned", metav1.ConditionFalse, "Restoring", "half of it")
	_, err := visit.Flush(noon, obj)
	fmt.Println(status.Conditions(obj).Reason("Provisioned"), status.Conditions(obj).Reason("Degraded"), err)
	visit.Result("Provisioned", nil)
	_, err = visit.End(noon, obj)
	fmt.Println(status.Conditions(obj).Reason("Provisioned"), status.Conditions(obj).Reason("Degraded"), err)
	// Output:
	// Restoring Initializing <nil>
	// Succeeded NotReported <nil>
}

func ExampleVisit_Err() {
	visit := databaseTypes.Visit(1)
	visit.Report("Painted", metav1.ConditionTrue, "Red", "")
	fmt.Println(visit.Err())
	// Output: declared conditions: "Painted" isn't declared
}

func ExampleVisit_Reported() {
	visit := databaseTypes.Visit(1)
	visit.Result("Provisioned", nil)
	provisioned, ok := visit.Reported("Provisioned")
	fmt.Println(provisioned.Status, provisioned.Reason, ok)
	_, ok = visit.Reported("Degraded")
	fmt.Println(ok)
	// Output:
	// True Succeeded true
	// false
}

func ExampleDeclared_updateTime() {
	backups, err := status.Declare(status.Declared{Type: "BackedUp", UpdateTime: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	obj := map[string]any{}
	for minute, message := range []string{"a tenth", "a half"} {
		visit := backups.Visit(0)
		visit.Report("BackedUp", metav1.ConditionFalse, "Running", message)
		if _, err := visit.End(noon.Add(time.Duration(minute)*time.Minute), obj); err != nil {
			fmt.Println(err)
		}
		entry := obj["status"].(map[string]any)["conditions"].([]any)[0].(map[string]any)
		fmt.Println(entry["lastTransitionTime"], entry["lastUpdateTime"])
	}
	// Output:
	// 2026-05-06T12:00:00Z 2026-05-06T12:00:00Z
	// 2026-05-06T12:00:00Z 2026-05-06T12:01:00Z
}
