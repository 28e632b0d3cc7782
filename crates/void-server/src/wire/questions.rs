//! Questions and reminders as they are sent.

use void_api::questions::{QuestionAnswerResponse, QuestionResponse};
use void_api::reminders::ReminderResponse;
use void_domain::questions::{Question, QuestionState};
use void_domain::reminders::{Reminder, ReminderSchedule};
use void_domain::taint::Taint;

fn sources(taint: &Taint) -> Vec<String> {
    taint.sources().to_vec()
}

pub(crate) fn question_response(question: &Question) -> QuestionResponse {
    let mut response = QuestionResponse {
        id: question.id.to_string(),
        code: question.code.to_string(),
        asker: question.asker.to_string(),
        asked: question.asked.to_string(),
        text: question.words.text().to_owned(),
        options: question.words.options().to_vec(),
        taint: sources(&question.taint),
        status: question.state.as_str().into(),
        asked_at: question.asked_at.to_string(),
        expires_at: question.expires_at.to_string(),
        answer: None,
        ended_by: None,
        ended_at: None,
        why: None,
    };
    match &question.state {
        QuestionState::Open => {}
        QuestionState::Answered {
            by,
            reply,
            taint,
            at,
        } => {
            response.answer = Some(QuestionAnswerResponse {
                text: reply.text.clone(),
                option: reply.option,
                taint: sources(taint),
            });
            response.ended_by = Some(by.clone());
            response.ended_at = Some(at.to_string());
        }
        QuestionState::Cancelled { by, why, at } => {
            response.ended_by = Some(by.clone());
            response.ended_at = Some(at.to_string());
            response.why = Some(why.as_str().into());
        }
        QuestionState::Expired { at } => response.ended_at = Some(at.to_string()),
    }
    response
}

pub(crate) fn reminder_response(reminder: &Reminder) -> ReminderResponse {
    let (every_s, cron, zone) = match &reminder.schedule {
        ReminderSchedule::Once { .. } => (None, None, None),
        ReminderSchedule::Every { interval } => (Some(interval.as_secs()), None, None),
        ReminderSchedule::Cron { expression, zone } => {
            let name = zone.iana_name().unwrap_or("UTC");
            (None, Some(expression.clone()), Some(name.to_owned()))
        }
    };
    ReminderResponse {
        id: reminder.id.to_string(),
        agent: reminder.agent.to_string(),
        set_by: reminder.set_by.clone(),
        text: reminder.text.clone(),
        taint: sources(&reminder.taint),
        kind: reminder.schedule.kind().into(),
        every_s,
        cron,
        zone,
        status: reminder.state.as_str().into(),
        next_at: reminder.next_at().map(|at| at.to_string()),
        set_at: reminder.set_at.to_string(),
        fired_count: reminder.fired_count,
        last_fired_at: reminder.last_fired_at.map(|at| at.to_string()),
    }
}
