import { TASKS, type Task } from '../../../shared/tasks.ts'
import { chooseTask, task } from '../../state/chosen-task.ts'
import { TaskPicture } from './task-picture.tsx'

/** Offers tasks. Each fills in prompts and format, and decides which output is heard first. */
export function Tasks() {
  const { name } = task.value
  return (
    <fieldset class="tasks">
      <legend>Task</legend>
      <div class="task-cards">
        {TASKS.map((option) => (
          <button
            key={option.name}
            type="button"
            aria-pressed={option.name === name}
            title={describe(option)}
            onClick={() => chooseTask(option)}
          >
            <TaskPicture word={option.word} />
            {option.name}
          </button>
        ))}
      </div>
      <p class="quiet">{describe(task.value)}</p>
    </fieldset>
  )
}

const describe = ({ does, format }: Task): string => `${does}, in ${format.toUpperCase()}.`
