"""The client that openapi-python-client makes of the document, used as a lender's program would."""
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def generate(document, work):
    """Makes the package rampart_client in the folder, of all operations of the document."""
    command = [pathlib.Path(sys.executable).parent / "openapi-python-client", "generate", "--path",
               document, "--config", HERE / "client.yaml", "--meta", "none", "--output-path",
               work / "rampart_client"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    text = ran.stdout + ran.stderr
    if ran.returncode != 0 or "WARNING" in text:
        sys.exit(f"openapi-python-client:\n{text[-4000:]}")
    sys.path.insert(0, str(work))


def use(url, token, now, features):
    """Decides, reports and reads; the answers are objects of the client's types."""
    from rampart_client import AuthenticatedClient, models
    from rampart_client.api.decisions import decide, get_decision, report_outcomes
    from rampart_client.api.operation import get_status
    from rampart_client.api.privacy import erase

    client = AuthenticatedClient(base_url=url, token=token)
    application = models.Application("client-1", "client-p", now,
                                     models.ApplicationFeatures.from_dict(features))
    decision = decide.sync(client=client, body=application)
    assert isinstance(decision, models.Decision), decision
    batch = decide.sync(client=client, body=models.ApplicationBatch([application]))
    assert isinstance(batch, models.DecisionBatch), batch
    assert batch.decisions[0].draw == decision.draw, "an application is decided once"
    found = get_decision.sync(decision.decision_id, client=client)
    assert found.to_dict() == decision.to_dict(), found
    accepted = report_outcomes.sync(
        client=client, body=models.Outcome(decision.decision_id, "repaid", now, value=1.0))
    assert accepted.accepted == 1, accepted
    status = get_status.sync(client=client)
    assert isinstance(status, models.Status) and status.ready, status
    asked = models.ErasureByPerson("client-p", "test", True)
    refused = erase.sync(client=client, body=asked)
    assert isinstance(refused, models.Problem) and refused.reason == "retention", refused
    assert refused.status == 409 and refused.remedy, refused
    stranger = AuthenticatedClient(base_url=url, token="0" * 64)
    unknown = get_status.sync_detailed(client=stranger)
    assert unknown.status_code == 401 and unknown.parsed.reason == "unauthenticated", unknown
